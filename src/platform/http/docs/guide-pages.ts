import { ABOUT } from '../about.ts';
import { type Html, html, marked } from '../html.ts';
import { DOCS_PATH, type DocsModel, type Entry, type Group, pathOfOperation } from './model.ts';
import { operationEntry } from './operation-entry.ts';
import { commonHeaders } from './parameter-row.ts';
import { answerRows, itemOfPage, table } from './schema-table.ts';

/** The first page: how to call the API, and all operations by their tags. */
export function introductionPage({ document, groups }: DocsModel): Html {
  return html`<section id="about">
<h1>${document.info.title} API</h1>
${ABOUT.map(({ title, text }) => html`<section id="${title.toLowerCase()}"><h2>${title}</h2><p>${marked(text)}</p></section>`)}
<h2>Examples</h2>
<p>The examples use the shell variables <code>API</code>, <code>KEY</code> and <code>TOKEN</code>:</p>
<pre tabindex="0" aria-label="Settings of the examples">export API=https://mods.example.com/v1 KEY=… TOKEN=…</pre>
<p><a href="${DOCS_PATH}/objects" id="objects">Objects</a> describes the objects in answers, and <a href="${DOCS_PATH}/errors">Errors</a> lists every error reference.</p>
</section>
<section id="operations">
<h2>Operations</h2>
${groups.map(operationList)}
</section>`;
}

/** Links from when all operations were on one page still work, because the anchors are the same. */
function operationList({ name, slug, entries }: Group): Html {
  const row = (entry: Entry) => {
    const { id, method, path } = entry.operation.declaration;
    return html`<li id="${id}"><a href="${pathOfOperation(entry)}"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></a> <small>${id}</small></li>`;
  };
  return html`<h3 id="tag-${slug}"><a href="${DOCS_PATH}/${slug}">${name}</a></h3><ul class="operations">${entries.map(row)}</ul>`;
}

export function tagPage({ document }: DocsModel, { name, entries }: Group): Html {
  return html`<h1>${name}</h1>
${entries.map((entry) => operationEntry(document, entry))}
${commonHeaders(document, entries)}`;
}

/** Every object in answers. Pages of lists are omitted, because the introduction describes them. */
export function objectsPage({ document }: DocsModel): Html {
  const objects = Object.entries(document.components.schemas).filter(([, schema]) => !itemOfPage(schema));
  const entry = ([name, schema]: (typeof objects)[number]) =>
    html`<details class="entry"><summary><h3><code class="route">${name}</code></h3></summary>
<div class="body" id="object-${name}">${table(answerRows(document, schema))}</div></details>`;
  return html`<h1>Objects</h1>
<p>The objects in answers. Fields can be added without a new version of the API, so clients must ignore unknown fields.</p>
${objects.map(entry)}`;
}
