"""What `--help` shows below a command's flags; `raygrove` becomes what the person typed."""

from __future__ import annotations

EXAMPLES = {
    "": """examples:
  raygrove                                       the window, on its welcome page
  raygrove bunny.obj                             the window with a model
  raygrove gallop/frame_*.obj                    a sequence of key frames plays
  raygrove render --demo orbit --frames 0:60 --size 512x384 --out out/
  raygrove bench build --demo cloth --json
  raygrove COMMAND --help                        what a command takes
  source <(raygrove --completion bash)           the Tab key completes (also zsh, fish)""",
    "view": """examples:
  raygrove view --demo orbit --hierarchy lbvh --layout bvh4
  raygrove sponza/sponza.obj --eye 0,200,0 --look-at 500,200,0
  raygrove view run.xtc --set import.every_frame=10  every tenth frame of a trajectory of atoms
  raygrove view default.env                      the scene and the settings of Meister's ray tracer
  raygrove view --settings dark.toml --set render.samples=16""",
    "render": """examples:
  raygrove render --demo orbit --frames 0:10 --size 512x384 --out out/ --json
  raygrove render --demo walker --out walker.mp4 --statistics walker.csv
  raygrove render bunny.obj --turntable 6 --out turn.mp4
  raygrove render sponza.obj --camera-path bookmarks --out flight.mp4
  raygrove render --demo walker --out walker.mp4 --store parts/   in parts, which the same command goes on from
  raygrove render picture.png --out depth.exr        the state that a saved picture carries
  raygrove render bunny.obj --ray-type steps --out steps.png
  raygrove render --demo cloth --set demo.triangles=1000000 --update refit --time 0.5 --out cloth.png""",
    "bench": """examples:
  raygrove bench build --demo cloth --json
  raygrove bench trace --demo blob --layout bvh4 --size 1024x768 --repeat 20
  raygrove bench frame --demo orbit --device cpu --threads 2
  raygrove bench suite meister2014 --data models --out results/meister2014""",
    "race": """examples:
  raygrove race --demo walker --contestants lbvh@refit,hploc@auto,binned_sah --frames 0:24 --out report.html
  raygrove race scene.glb --contestants hploc/bvh2,hploc/bvh4 --ray-type path --size 512x384 --out race/
  raygrove race --demo walker --contestants lbvh@refit,hploc --rays lidar:rows=32:columns=512:node=head
  raygrove race race.toml --device cpu""",
    "advise": """examples:
  raygrove advise --demo explode --hierarchy hploc
  raygrove advise walk.glb --hierarchy lbvh/bvh4 --frames 0:48 --out advice.toml
  raygrove view walk.glb --settings advice.toml      the advice, taken""",
    "hotspots": """examples:
  raygrove hotspots --demo walker --hierarchy lbvh --remedies
  raygrove hotspots --demo explode --hierarchy lbvh@refit --frames 0:48 --by object
  raygrove hotspots scene.glb --ray-type path --only 'bounce 1' --by triangle --most 50 --json""",
    "record": """examples:
  raygrove record --demo room --ray-type path --only 'bounce 2' --out rays.npz
  raygrove race --demo room --contestants hploc,sbvh --rays rays.npz    the same rays through each
  raygrove record scene.glb --ray-type ao --only occlusion --time 0.5 --size 512x384 --out occlusion.npz""",
    "sweep": """examples:
  raygrove sweep plan.toml --store results/ --dry-run    how many jobs there are, and how long they take
  raygrove sweep plan.toml --store results/              do them; the same again goes on where it ended
  raygrove sweep plan.toml --store results/ --shard 1/4  a quarter, for one of four machines or tasks of an array
  raygrove sweep plan.toml --store results/ --again failed,crashed""",
    "results": """examples:
  raygrove results results/ --where configuration=hploc* --where status=done
  raygrove results results/ --columns scene,configuration,trace_ms,trace_ms_low,trace_ms_high --out table.tex
  raygrove results results/ --out baseline.jsonl     all of it in one file, for compare
  raygrove results results/ --open 5bb787ce          the window, on that result's scene and structure
  raygrove results results/ --where scene=walker --pictures walker.mp4   the pictures of one animation
  raygrove results results/ --sql 'SELECT scene, configuration, median(trace_ms) FROM results GROUP BY ALL'""",
    "compare": """examples:
  raygrove compare baseline.jsonl results/ --threshold 5 --out report.html
  raygrove compare results/@12ab34 results/@98fe76   two versions of the program in one store
  raygrove compare before.json after.json            what `raygrove bench ... --json` printed""",
    "store": """examples:
  raygrove store pack results/                       results/results.parquet, which `results --sql` reads at once""",
    "suite": """examples:
  raygrove suite all --store results/ --data models      every table of the five papers; the same again goes on
  raygrove suite meister2014 --store results/ --jobs dask://127.0.0.1:8786
  raygrove suite all --store results/ --shard 1/4        a quarter; the last one to end writes all tables""",
    "tree": """examples:
  raygrove tree export --demo blob --hierarchy hploc --out blob.rgtree
  raygrove tree import bunny.obj --tree bunny.save.bin --out bunny.rgtree
  raygrove tree validate bunny.obj --tree bunny.rgtree --json
  raygrove tree diagnose --demo walker --time 1 --tree theirs.rgtree""",
    "lesson": """examples:
  raygrove lesson                                the lessons there are
  raygrove lesson refit-or-rebuild --out page.html
  raygrove lesson my-lesson.toml --answers 1,2,1 --device cpu""",
    "info": """examples:
  raygrove info sponza.obj
  raygrove info run.xtc                          particles, frames, attributes, the periodic box
  raygrove info --demo walker --json
  raygrove info default.env --print-settings     a settings file as TOML""",
    "warm": """examples:
  raygrove warm                                  what the settings choose, for meshes that move in any way
  raygrove warm --all                            every structure and ray type: minutes
  raygrove warm lecture.glb --hierarchy hploc --ray-type path""",
    "doctor": """examples:
  raygrove doctor
  raygrove doctor --json""",
}

EXIT_CODES = (
    "exit codes: 0 ok, 1 failure, 2 usage, 3 file cannot be read, 4 no usable device, 5 out of memory, 130 "
    "interrupted, 143 terminated"
)
