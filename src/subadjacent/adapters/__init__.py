"""Our detectors in the shapes of other libraries, and other libraries' detectors in ours."""
