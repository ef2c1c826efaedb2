import { LOOK_PATH } from '../people/site/object.ts';
import { type Accents, paletteOf } from '../people/site/palette.ts';
import { ApiError } from '../platform/errors/catalogue.ts';
import type { Page } from '../platform/http/pages.ts';

export const STYLE_PATH = '/pages.css';

// The colours and sizes of `site/src/tokens.css`, so that these pages look like the site without its build.
const STYLE = `:root { color-scheme: light dark; --font: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; --radius-s: 0.3125rem; --radius-m: 0.5rem; --width: 76rem;
  --page: #f6f7f9; --surface: #ffffff; --surface-2: #eef0f4; --line: #d9dde4; --line-strong: #aab2bf; --ink: #171b22; --ink-2: #525c6b;
  --accent: #1f5fbf; --accent-ink: #ffffff; --accent-soft: #e3edfb; --warn: #8f5a00; --warn-soft: #fdf0d5; --bad: #b3261e; --bad-soft: #fbe6e4;
  --shadow: 0 1px 2px rgb(20 30 50 / 8%), 0 4px 14px rgb(20 30 50 / 6%); }
@media (prefers-color-scheme: dark) {
  :root { --page: #11141a; --surface: #191d25; --surface-2: #232833; --line: #2d3441; --line-strong: #4d5769; --ink: #e9ecf1; --ink-2: #a2acbb;
    --accent: #7fb2ff; --accent-ink: #0c1a30; --accent-soft: #1d2d48; --warn: #f0b952; --warn-soft: #34280f; --bad: #ff8d84; --bad-soft: #3d1d1b;
    --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 4px 14px rgb(0 0 0 / 30%); }
}
*, ::before, ::after { box-sizing: border-box; }
html { font: 100% / 1.5 var(--font); text-size-adjust: 100%; }
body { margin: 0; min-block-size: 100dvh; display: flex; flex-direction: column; background: var(--page); color: var(--ink); font-size: 0.9375rem; }
.top, .bottom { background: var(--surface); border: 0 solid var(--line); }
.top { border-block-end-width: 1px; }
.bottom { border-block-start-width: 1px; font-size: 0.8125rem; color: var(--ink-2); }
.inside { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; inline-size: min(100%, var(--width)); margin-inline: auto; padding: 0.55rem 1rem; }
.bottom .inside { padding-block: 1rem; }
.bottom a { color: inherit; }
.brand { display: inline-flex; align-items: center; gap: 0.5rem; min-block-size: 2.1rem; color: var(--ink); font-weight: 750; font-size: 1.125rem; letter-spacing: -0.01em; text-decoration: none; }
.brand img { border-radius: var(--radius-s); }
.brand rect { fill: var(--accent); }
.brand path { fill: var(--accent-ink); }
.badge { padding: 0.05rem 0.45rem; border-radius: var(--radius-s); background: var(--warn-soft); color: var(--warn); font-size: 0.75rem; font-weight: 600; }
.middle { flex: 1; display: grid; justify-items: center; align-content: start; padding: clamp(1.25rem, 7vh, 5rem) 1rem 2.5rem; }
main { inline-size: min(100%, 27rem); padding: clamp(1rem, 5vw, 1.75rem); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius-m); box-shadow: var(--shadow); }
h1 { margin: 0 0 0.4rem; font-size: 1.5rem; line-height: 1.2; letter-spacing: -0.015em; text-wrap: balance; overflow-wrap: anywhere; }
h2 { margin: 1.4rem 0 0.4rem; font-size: 1.125rem; line-height: 1.2; }
p { margin: 0.5rem 0; overflow-wrap: anywhere; }
a { color: var(--accent); text-underline-offset: 0.15em; }
.faint { color: var(--ink-2); font-size: 0.8125rem; }
.icon { display: block; margin: 0.9rem 0; border-radius: var(--radius-m); flex: none; }
.wide { display: block; inline-size: 100%; block-size: auto; margin: 0.9rem 0; border-radius: var(--radius-s); }
.origin { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: center; }
.origin p { flex: 1 1 9rem; min-inline-size: 0; }
.problem, .note { margin: 0.8rem 0; padding: 0.6rem 0.8rem; border-radius: var(--radius-s); }
.problem { background: var(--bad-soft); }
.note { background: var(--accent-soft); }
ul { margin: 0.5rem 0 1rem; padding-inline-start: 1.2rem; }
li { margin: 0.3rem 0; }
label { display: block; margin: 1rem 0 0.25rem; font-weight: 600; font-size: 0.8125rem; }
input:not([type=hidden], [type=checkbox]) { inline-size: 100%; padding: 0.5rem 0.7rem; font: inherit; color: inherit; background: var(--surface);
  border: 1px solid var(--line-strong); border-radius: var(--radius-s); }
input[aria-invalid=true] { border-color: var(--bad); }
input[name=code] { font: 1.3rem/1.4 var(--mono); letter-spacing: 0.25em; text-transform: uppercase; }
.choice { display: flex; gap: 0.6rem; align-items: start; font-weight: 400; font-size: 0.9375rem; }
.choice span { min-inline-size: 0; overflow-wrap: anywhere; }
.choice input { flex: none; inline-size: 1.15rem; block-size: 1.15rem; margin: 0.15rem 0 0; accent-color: var(--accent); }
.actions { display: flex; flex-wrap: wrap; gap: 0.6rem; margin: 1.2rem 0 0.6rem; }
button, .button { padding: 0.5rem 0.9rem; font: inherit; font-weight: 600; line-height: 1.4; text-align: center; text-decoration: none; cursor: pointer;
  border-radius: var(--radius-s); border: 1px solid var(--accent); background: var(--accent); color: var(--accent-ink); overflow-wrap: anywhere; }
button { flex: 1 1 8rem; }
button:hover, .button:hover { background: color-mix(in oklab, var(--accent) 88%, var(--ink)); }
.button { display: block; }
.portals { display: grid; gap: 0.5rem; margin: 1rem 0; }
.button.quiet, button.quiet { background: var(--surface); color: var(--ink); border-color: var(--line-strong); }
.button.quiet:hover, button.quiet:hover { background: var(--surface-2); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

export const stylePage: Page = {
  id: 'page-style',
  path: STYLE_PATH,
  get: () => ({ status: 200, text: { type: 'text/css; charset=utf-8', body: STYLE } }),
};

const ACCENT = /^[0-9a-f]{6}$/;

// More specific than `:root`, because the order of style sheets differs between pages.
const propertiesOf = ({ accent, accent_ink, accent_soft }: Accents): string =>
  `html:root{--accent:${accent};--accent-ink:${accent_ink};--accent-soft:${accent_soft}}`;

/** The readable shades of a colour, for every page, and for the preview of a colour that is not chosen yet. */
export const lookPage: Page = {
  id: 'page-look',
  path: LOOK_PATH,
  get: (_app, { query }) => {
    const accent = query['accent'] ?? '';
    if (!ACCENT.test(accent)) throw new ApiError('RESOURCE_NOT_FOUND');
    const { light, dark } = paletteOf(`#${accent}`);
    const body = `${propertiesOf(light)}@media (prefers-color-scheme:dark){${propertiesOf(dark)}}`;
    return { status: 200, text: { type: 'text/css; charset=utf-8', body } };
  },
};
