/** The look of /v1/docs: system fonts, the reader's own light or dark, nothing fetched from elsewhere. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #fff; --raised: #f6f7f9; --line: #dfe3e8; --ink: #1b2430; --faint: #5d6876;
  --link: #0b5fc4; --get: #0a6b4f; --post: #0b5fc4; --put: #8a5300; --delete: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #12161c; --raised: #1a2029; --line: #2c3542; --ink: #e4e9f0; --faint: #9aa6b5;
    --link: #7cb7ff; --get: #56d3a6; --post: #7cb7ff; --put: #f0b65b; --delete: #ff8f85; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 5rem; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
code, pre { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { overflow-wrap: anywhere; }
p code { white-space: nowrap; }
p code, td code { background: var(--raised); border-radius: 4px; padding: 0.1em 0.3em; }
pre { margin: 0; padding: 0.8rem 1rem; background: var(--raised); border: 1px solid var(--line); border-radius: 8px;
  overflow-x: auto; }
header { position: sticky; top: 0; z-index: 1; display: flex; gap: 0.5rem 1.5rem; align-items: center; flex-wrap: wrap;
  padding: 0.7rem 1.5rem; background: var(--ground); border-bottom: 1px solid var(--line); }
header strong { font-size: 1.1rem; }
header input { flex: 1 1 12rem; max-width: 26rem; padding: 0.45rem 0.8rem; font: inherit; color: inherit;
  background: var(--raised); border: 1px solid var(--line); border-radius: 8px; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 84rem; margin: 0 auto; }
nav { position: sticky; top: 3.9rem; align-self: start; max-height: calc(100vh - 3.9rem); overflow-y: auto;
  padding: 1.5rem 1rem 3rem 1.5rem; font-size: 0.9rem; }
nav h2 { margin: 1.2rem 0 0.3rem; font-size: 0.75rem; letter-spacing: 0.06em; text-transform: uppercase;
  color: var(--faint); }
nav > h2 { margin-top: 0; }
nav h2 a { color: inherit; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: block; padding: 0.15rem 0; color: inherit; overflow-wrap: anywhere; }
main { padding: 1.5rem 1.5rem 6rem; border-left: 1px solid var(--line); }
main > section { margin-bottom: 3rem; }
h1 { margin: 0 0 1rem; font-size: 1.9rem; line-height: 1.2; }
main h2 { margin: 0 0 0.8rem; font-size: 1.35rem; }
h3 { margin: 1.4rem 0 0.4rem; font-size: 1rem; }
h4 { margin: 1.4rem 0 0.5rem; font-size: 0.8rem; letter-spacing: 0.05em; text-transform: uppercase;
  color: var(--faint); }
p { margin: 0.4rem 0; max-width: 46rem; }
details.entry { margin: 0.6rem 0; border: 1px solid var(--line); border-radius: 10px; }
details.entry > summary { display: flex; gap: 0.3rem 0.8rem; align-items: baseline; flex-wrap: wrap;
  padding: 0.7rem 1rem; cursor: pointer; list-style: none; }
details.entry > summary::-webkit-details-marker { display: none; }
details.entry[open] > summary { border-bottom: 1px solid var(--line); background: var(--raised);
  border-radius: 10px 10px 0 0; }
summary .route { font-weight: 600; }
summary .id { margin-left: auto; color: var(--faint); font-size: 0.8rem; }
summary .says { flex-basis: 100%; color: var(--faint); font-size: 0.9rem; }
.body { padding: 0.8rem 1rem 1.2rem; scroll-margin-top: 9rem; }
.body > h4:first-child { margin-top: 0.3rem; }
.method { display: inline-block; min-width: 4.2rem; padding: 0.05rem 0.5rem; text-align: center;
  font: 700 0.75rem/1.6 ui-monospace, Menlo, Consolas, monospace; border: 1px solid currentColor; border-radius: 6px; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .delete { color: var(--delete); }
table { width: 100%; border-collapse: collapse; font-size: 0.9rem; }
th { text-align: left; font-weight: 600; color: var(--faint); }
th, td { padding: 0.4rem 0.8rem 0.4rem 0; vertical-align: top; border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; }
td:first-child { width: 34%; }
td small { display: block; color: var(--faint); }
.must { color: var(--delete); font-size: 0.8rem; white-space: nowrap; }
.fields > summary { cursor: pointer; color: var(--faint); padding: 0.2rem 0; }
.refs { display: flex; flex-wrap: wrap; gap: 0.3rem 0.7rem; font-size: 0.9rem; }
[hidden] { display: none !important; }
@media (max-width: 60rem) {
  header { padding: 0.6rem 1rem; }
  header { justify-content: space-between; }
  header input { order: 1; flex-basis: 100%; max-width: none; }
  p code { white-space: normal; }
  html { scroll-padding-top: 7rem; }
  .page { display: block; }
  nav { position: static; max-height: none; display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; padding: 0.8rem 1rem;
    border-bottom: 1px solid var(--line); }
  nav > h2, nav [data-group] ul { display: none; }
  nav h2 { margin: 0; font-size: 0.9rem; letter-spacing: 0; text-transform: none; }
  nav h2 a, nav ul a { color: var(--link); }
  nav ul { display: flex; gap: 1rem; }
  nav li a { padding: 0; font-weight: 600; }
  main { padding: 1.2rem 1rem 4rem; border-left: 0; }
  summary .id { display: none; }
  table, tbody, tr, td { display: block; width: auto; }
  thead { display: none; }
  tr { padding: 0.4rem 0; border-bottom: 1px solid var(--line); }
  tr:last-child { border-bottom: 0; }
  td, td:first-child { width: auto; padding: 0.1rem 0; border: 0; }
}
@media print { header, nav { display: none; } .page { display: block; } }
`;

/** The page reads without it; it filters, and opens what an address points at where the browser does not. */
export const SCRIPT = `
const box = document.querySelector('input');
box.hidden = false;
box.addEventListener('input', () => {
  const words = box.value.toLowerCase().split(/\\s+/);
  const fits = (element) => words.every((word) => element.dataset.find.includes(word));
  for (const element of document.querySelectorAll('[data-find]')) element.hidden = !fits(element);
  for (const group of document.querySelectorAll('[data-group]'))
    group.hidden = !group.querySelector('[data-find]:not([hidden])');
});
const open = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const entry = target && target.closest('details');
  if (entry && !entry.open) { entry.open = true; target.scrollIntoView(); }
};
addEventListener('hashchange', open);
open();
`;
