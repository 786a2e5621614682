"""What answers browsers: it knows visitors, matches and sheets, and reasons with no rules itself."""
