"""What programs call over HTTP: rows in, alarms out, and a page that shows them."""
