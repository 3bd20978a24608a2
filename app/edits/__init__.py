"""What a person changes of a scene: materials and lights, and which objects are shown."""
