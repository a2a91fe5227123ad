"""From files and frames to series and windows."""
