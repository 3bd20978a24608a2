"""The version of Raygrove: of the wheel, and what `--version`, the doctor, saved pictures and reports say."""

VERSION = "0.1.0"
