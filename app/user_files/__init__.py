"""What a person keeps beside the settings: cameras.toml, keys.toml and the folder of presets."""
