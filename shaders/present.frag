// The picture is display-referred sRGB already (the film's last kernel encodes it): it is shown as it is, opaque.
uniform sampler2D picture;
in vec2 uv;
out vec4 color;

void main()
{
    color = vec4(texture(picture, uv).rgb, 1.0);
}
