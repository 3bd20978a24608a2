"""The desktop window, by Qt. Widgets change the document and show what it says; none of them knows the engine.

starting            application, main_window, memory (what is remembered), measure (the window's own benchmark)
commands            commands (menus and keys), choice_menu and choices (what the registries offer), camera_commands, dialogs, cheat_sheet
the picture         viewport (OpenGL) or painter_view (Qt), slots, navigation (mouse and keys), legend, frame_loop (render thread -> view)
beside the picture  stats_panel and stats_rows, timeline_bar, banner (messages, progress), icons
pages and dialogs   welcome and previews, settings_dialog and form (made from the options' dataclasses)
"""
