import { STATUS_CODES } from 'node:http';
import { type ErrorName, errors } from '../../errors/catalogue.ts';
import { errorMessage } from '../../errors/messages.ts';
import { type Html, html, marked } from '../html.ts';
import { UNIVERSAL_ERRORS } from '../protocol-errors.ts';
import { actionFor, NOTES } from './error-notes.ts';
import {
  DOCS_PATH,
  type DocsModel,
  type Entry,
  isPublished,
  isUniversal,
  type PublishedName,
  pathOfError,
  pathOfOperation,
} from './model.ts';

/** Every reference of the catalogue, with its message. */
export function errorsPage({ refs }: DocsModel): Html {
  const rows = [...refs].flatMap(([ref, names]) =>
    names.map(
      (name) =>
        html`<tr id="${name}"><td><a href="${pathOfError(ref)}"><strong>${ref}</strong></a> <small>${errors[name].status} ${name}</small></td><td>${messageOf(name)}</td></tr>`,
    ),
  );
  return html`<h1>Errors</h1>
<p>All error answers have the same format. Programs compare <code>error_ref</code>, which never changes; the message is for people.</p>
<pre tabindex="0" aria-label="Example of an error">${JSON.stringify({ error: { code: 404, error_ref: 15022, message: messageOf('MOD_NOT_FOUND') } }, null, 2)}</pre>
<p>If the status is below 500, change the request before you send it again: failed requests count towards the rate limits, too.</p>
<h2 id="universal">Every operation answers</h2>
<ul class="refs">${UNIVERSAL_ERRORS.map((name) => html`<li><a href="${pathOfError(errors[name].ref)}#${name}">${errors[name].ref}</a> ${name}</li>`)}</ul>
<h2>All references</h2>
<table class="errors"><thead><tr><th scope="col">Reference</th><th scope="col">Message</th></tr></thead><tbody>${rows}</tbody></table>`;
}

/** One reference: its meaning, the action to take, and the operations that answer it. */
export function errorPage(model: DocsModel, ref: number): Html | undefined {
  const names = model.refs.get(ref);
  if (!names) return undefined;
  return html`<p class="up"><a href="${DOCS_PATH}/errors">All errors</a></p>
<h1>Error ${ref}</h1>
${names.length > 1 ? html`<p>${names.length} errors have this reference. They differ in message and status.</p>` : ''}
${names.map((name) => errorSection(model, name))}`;
}

function errorSection(model: DocsModel, name: PublishedName): Html {
  const { status } = errors[name];
  const { when, action } = meaningOf(name);
  return html`<section class="error" id="${name}" aria-labelledby="${name}-name">
<h2 id="${name}-name"><code>${name}</code></h2>
<dl>
<dt>HTTP status</dt><dd>${status} ${STATUS_CODES[status]}</dd>
<dt>Message</dt><dd>${messageOf(name)}</dd>
<dt>When it happens</dt><dd>${marked(when)}</dd>
<dt>What to do</dt><dd>${marked(action)}</dd>
</dl>
<h3>Operations that answer it</h3>
${operationsOf(model, name)}
${isPublished(name) ? '' : html`<p><small>This error has no published reference of its own and uses the nearest one.</small></p>`}
</section>`;
}

const messageOf = (name: PublishedName): string =>
  name === 'NO_REF' ? 'No error reference.' : errorMessage(name, 'en');

/** The first sentence of a message is the condition; the rest, if there is any, is the action. */
function meaningOf(name: PublishedName): { when: string; action: string } {
  const [, first = '', rest = ''] = /^(.*?[.!?])(?:\s+(.*))?$/s.exec(messageOf(name)) ?? [];
  const note = NOTES[name];
  return { when: note?.when ?? first, action: note?.action ?? (rest || actionFor(errors[name].status)) };
}

function operationsOf(model: DocsModel, name: PublishedName): Html {
  if (isUniversal(name)) return html`<p>Every operation.</p>`;
  const entries = model.answeredBy.get(name as ErrorName) ?? [];
  if (entries.length === 0) return html`<p>No operation declares it.</p>`;
  const byTag = Map.groupBy(entries, ({ operation }) => operation.declaration.tag);
  const lists = [...byTag].map(
    ([tag, ofTag]) => html`<dt>${tag}</dt><dd><ul class="refs">${ofTag.map(operationLink)}</ul></dd>`,
  );
  return html`<dl class="tags">${lists}</dl>`;
}

const operationLink = (entry: Entry): Html =>
  html`<li><a href="${pathOfOperation(entry)}">${entry.described.operationId}</a></li>`;
