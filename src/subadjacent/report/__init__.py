"""An assessment as one HTML page, or as a static image."""
