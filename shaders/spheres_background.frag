// Where no sphere is drawn.
out vec4 shown;

void main() { shown = displayed(background(ray_through(gl_FragCoord.xy))); }
