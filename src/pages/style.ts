import type { Page } from '../platform/http/pages.ts';

export const STYLE_PATH = '/pages.css';

const STYLE = `:root { color-scheme: light dark; --ground: #f3f5f8; --card: #fff; --line: #d5dbe3; --ink: #1b2430; --faint: #55606e;
  --link: #0b5fc4; --button: #0b5fc4; --on-button: #fff; --problem: #a3211a; --problem-ground: #fdeceb; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #0e1217; --card: #171d25; --line: #323d4b; --ink: #e6ebf2; --faint: #a1adbc;
    --link: #7cb7ff; --button: #7cb7ff; --on-button: #0b1420; --problem: #ff9d95; --problem-ground: #361a1a; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; align-items: center; gap: 1rem;
  padding: clamp(1.5rem, 8vh, 6rem) 1rem 3rem; background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
header { display: flex; gap: 0.6rem; align-items: center; }
.brand { font-weight: 700; letter-spacing: 0.01em; }
.badge { padding: 0.1rem 0.6rem; border: 1px solid currentColor; border-radius: 99px; font-size: 0.8rem; color: var(--faint); }
main { width: 100%; max-width: 26rem; padding: clamp(1.1rem, 5vw, 2rem); background: var(--card); border: 1px solid var(--line); border-radius: 14px; }
h1 { margin: 0 0 0.4rem; font-size: 1.4rem; line-height: 1.25; overflow-wrap: anywhere; }
p { margin: 0.5rem 0; overflow-wrap: anywhere; }
a { color: var(--link); }
.faint { color: var(--faint); font-size: 0.9rem; }
.icon { display: block; margin: 0.9rem 0; border-radius: 12px; flex: none; }
.wide { display: block; width: 100%; height: auto; margin: 0.9rem 0; border-radius: 10px; }
.origin { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: center; }
.origin p { flex: 1 1 9rem; min-width: 0; }
.problem { margin: 0.8rem 0; padding: 0.6rem 0.8rem; border-radius: 8px; background: var(--problem-ground); color: var(--problem); }
ul { margin: 0.5rem 0 1rem; padding-left: 1.2rem; }
li { margin: 0.3rem 0; }
label { display: block; margin: 1rem 0 0.3rem; font-weight: 600; }
input:not([type=hidden], [type=checkbox]) { width: 100%; padding: 0.6rem 0.8rem; font: inherit; color: inherit; background: var(--ground);
  border: 1px solid var(--line); border-radius: 8px; }
input[name=code] { font: 1.3rem/1.4 ui-monospace, Menlo, Consolas, monospace; letter-spacing: 0.25em; text-transform: uppercase; }
.choice { display: flex; gap: 0.6rem; align-items: start; font-weight: 400; }
.choice span { min-width: 0; overflow-wrap: anywhere; }
.choice input { flex: none; width: 1.15rem; height: 1.15rem; margin: 0.2rem 0 0; accent-color: var(--button); }
.actions { display: flex; flex-wrap: wrap; gap: 0.7rem; margin: 1.4rem 0 0.8rem; }
button { flex: 1 1 8rem; padding: 0.65rem 1rem; font: inherit; font-weight: 600; cursor: pointer; border-radius: 8px;
  border: 1px solid var(--button); background: var(--button); color: var(--on-button); }
.button { display: block; padding: 0.65rem 1rem; font-weight: 600; text-align: center; text-decoration: none; border-radius: 8px;
  border: 1px solid var(--button); background: var(--button); color: var(--on-button); overflow-wrap: anywhere; }
.portals { display: grid; gap: 0.6rem; margin: 1rem 0; }
.note { padding: 0.6rem 0.8rem; border-radius: 8px; border: 1px solid var(--line); }
h2 { margin: 1.4rem 0 0.4rem; font-size: 1.1rem; }
.button.quiet, button.quiet { background: transparent; color: var(--ink); border-color: var(--line); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
`;

export const stylePage: Page = {
  id: 'page-style',
  path: STYLE_PATH,
  get: () => ({ status: 200, text: { type: 'text/css; charset=utf-8', body: STYLE } }),
};
