import { randomBytes } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Access } from '../access/caller.ts';
import { HOLDERS, type Power } from '../access/powers.ts';
import { type ErrorName, errors } from '../errors/catalogue.ts';
import { errorMessage } from '../errors/messages.ts';
import { ABOUT } from './about.ts';
import { SCRIPT, STYLE } from './docs-assets.ts';
import { exampleOf } from './docs-example.ts';
import { Html, html, marked } from './html.ts';
import { openApiDocument } from './openapi/document.ts';
import { componentOf, type JsonSchema } from './openapi/schemas.ts';
import { type OpenApiDocument, type OperationObject, type Parameter, type Response, resolve } from './openapi/types.ts';
import type { AnyOperation } from './operation.ts';
import { protocolErrorsOf } from './protocol-errors.ts';

const NONCE = '{nonce}';
const pages = new WeakMap<readonly AnyOperation[], string>();

/** The description of the API for people: written by the server, readable without scripts. */
export function answerDocs(response: ServerResponse, operations: readonly AnyOperation[]): void {
  const page = pages.get(operations) ?? pageOf(operations).text;
  pages.set(operations, page);
  const nonce = randomBytes(16).toString('base64');
  const bytes = Buffer.from(page.replaceAll(NONCE, nonce));
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': bytes.length,
    'cache-control': 'no-cache',
    'content-security-policy': `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'strict-transport-security': 'max-age=31536000',
  });
  response.end(bytes);
}

function pageOf(operations: readonly AnyOperation[]): Html {
  const document = openApiDocument(operations);
  const groups = document.tags.map(({ name }) => ({ name, entries: entriesOf(name, operations, document) }));
  const objects = Object.entries(document.components.schemas);
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${document.info.title} API</title>
<style nonce="${NONCE}">${new Html(STYLE)}</style>
<header>
  <strong>${document.info.title} API</strong>
  <input type="search" placeholder="Filter operations" aria-label="Filter operations" hidden>
  <a href="/v1/openapi.json">openapi.json</a>
</header>
<div class="page">
<nav aria-label="Operations">
  <h2>Guide</h2>
  <ul><li><a href="#about">About</a></li><li><a href="#objects">Objects</a></li><li><a href="#errors">Errors</a></li></ul>
  ${groups.map(navigation)}
</nav>
<main>
<section id="about">
  <h1>${document.info.title} API</h1>
  ${ABOUT.map(({ title, text }) => html`<h3>${title}</h3><p>${marked(text)}</p>`)}
  <h3>Examples</h3>
  <p>They stand for a shell in which <code>API</code>, <code>KEY</code> and <code>TOKEN</code> are set:</p>
  <pre>export API=https://mods.example.com/v1 KEY=… TOKEN=…</pre>
</section>
${groups.map(section)}
<section id="objects">
  <h2>Objects</h2>
  ${objects.map(([name, schema]) => objectEntry(name, schema))}
</section>
<section id="errors">
  <h2>Errors</h2>
  ${errorTable(namesIn(operations), true)}
</section>
</main>
</div>
<script nonce="${NONCE}">${new Html(SCRIPT)}</script>
</html>
`;
}

interface Entry {
  readonly operation: AnyOperation;
  readonly described: OperationObject;
  readonly document: OpenApiDocument;
}

interface Group {
  readonly name: string;
  readonly entries: readonly Entry[];
}

function entriesOf(tag: string, operations: readonly AnyOperation[], document: OpenApiDocument): Entry[] {
  const ofTag = operations.filter(({ declaration }) => declaration.tag === tag);
  return ofTag.map((operation) => {
    const { path, method } = operation.declaration;
    return { operation, described: document.paths[path]![method.toLowerCase()]!, document };
  });
}

const anchorOf = (tag: string) => `tag-${tag.toLowerCase().replace(/\W+/g, '-')}`;

const searchable = ({ operation: { declaration } }: Entry) =>
  [declaration.id, declaration.tag, declaration.method, declaration.path, declaration.says].join(' ').toLowerCase();

function navigation({ name, entries }: Group): Html {
  const item = (entry: Entry) =>
    html`<li data-find="${searchable(entry)}"><a href="#${entry.described.operationId}">${entry.described.operationId}</a></li>`;
  return html`<div data-group><h2><a href="#${anchorOf(name)}">${name}</a></h2><ul>${entries.map(item)}</ul></div>`;
}

function section({ name, entries }: Group): Html {
  return html`<section id="${anchorOf(name)}" data-group><h2>${name}</h2>${entries.map(operationEntry)}</section>`;
}

function operationEntry(entry: Entry): Html {
  const { id, method, path, says, access, limit } = entry.operation.declaration;
  const perMinute = limit === undefined ? '' : ` At most ${limit} requests a minute.`;
  return html`<details class="entry" data-find="${searchable(entry)}">
<summary><span class="method ${method.toLowerCase()}">${method}</span><code class="route">${path}</code><code class="id">${id}</code><span class="says">${marked(says)}</span></summary>
<div class="body" id="${id}">
<h4>Access</h4><p>${accessText(access)}${perMinute}</p>
${parameterTables(entry)}
${bodyTable(entry)}
<h4>Answer</h4>${answer(entry)}
<h4>Errors</h4>${errorsOf(entry.operation)}
<h4>Example</h4><pre>${exampleOf(entry.operation, entry.described)}</pre>
</div>
</details>`;
}

function accessText(access: Access): string {
  switch (access.kind) {
    case 'anyone':
      return 'Anyone, without credentials.';
    case 'reader':
      return `An API key, an access token that may read, or a service token that may ${access.keyWrites ? 'write' : 'read'}.`;
    case 'user':
      return `An access token that may ${access.scope}${access.service ? `, or a service token that may ${access.service}` : ''}. ${holdersText(access.power)}`;
    case 'service':
      return `A service token that may ${[access.scope, ...access.besides].join(' and ')}.`;
    case 'authentication':
      return 'An API key.';
  }
}

/** Which of a person's tokens hold the power, as one sentence. */
function holdersText(power: Power): string {
  const { game, application } = HOLDERS[power];
  const told = (who: string, says: string | undefined) => `${who}: ${says ?? 'no'}`;
  return `Power: ${power}. Of a sign-in on the site: yes; ${told('in a game', game)}; ${told('of an application', application)}.`;
}

const PLACES: readonly [Parameter['in'], string][] = [
  ['path', 'Path'],
  ['query', 'Query'],
  ['header', 'Headers'],
];

function parameterTables({ described, document }: Entry): Html[] {
  const parameters = described.parameters.map((parameter) => resolve<Parameter>(document, parameter));
  return PLACES.flatMap(([place, title]) => {
    const here = parameters.filter((parameter) => parameter.in === place);
    const rows = here.map(({ name, schema, description, required }) =>
      fieldRow(name, description ? { ...schema, description } : schema, required === true && place !== 'path'),
    );
    return here.length === 0 ? [] : [html`<h4>${title}</h4>${folded(rows, place === 'header' ? 0 : undefined)}`];
  });
}

function bodyTable({ described }: Entry): Html | undefined {
  const [content] = Object.entries(described.requestBody?.content ?? {});
  if (!content) return undefined;
  const [type, { schema }] = content;
  return html`<h4>Body</h4><p><code>${type}</code></p>${folded(fieldRows(schema))}`;
}

function answer({ operation, described, document }: Entry): Html {
  const { status, orThere } = operation.declaration.returns;
  const schema = resolve<Response>(document, described.responses[status]!).content?.['application/json']?.schema;
  const line = html`<p><strong>${status}</strong> ${STATUS_CODES[status]}${schema ? html`, ${typeOf(schema)}` : ''}${status === 201 ? ', with its address in Location' : ''}${orThere ? '; 200 where it was there already' : ''}</p>`;
  return schema?.properties ? html`${line}${table(fieldRows(schema))}` : line;
}

function objectEntry(name: string, schema: JsonSchema): Html {
  return html`<details class="entry"><summary><code class="route">${name}</code></summary>
<div class="body" id="object-${name}">${table(fieldRows(schema))}</div></details>`;
}

const ROWS_SHOWN = 30;

/** A long table is folded, so that what follows it can be found. */
function folded(rows: readonly Html[], shown = ROWS_SHOWN): Html {
  if (rows.length <= shown) return table(rows);
  return html`<details class="fields"><summary>${rows.length} fields</summary>${table(rows)}</details>`;
}

const table = (rows: readonly Html[]) => html`<table><tbody>${rows}</tbody></table>`;

function fieldRows({ properties = {}, required = [] }: JsonSchema): Html[] {
  return Object.entries(properties).map(([name, schema]) => fieldRow(name, schema, required.includes(name)));
}

function fieldRow(name: string, schema: JsonSchema, required: boolean): Html {
  const must = required ? html` <span class="must">required</span>` : '';
  const limits = limitsOf(schema).join(' · ');
  return html`<tr><td><code>${name}</code>${must}</td><td>${typeOf(schema)}${limits && html`<small>${limits}</small>`}${schema.description && html`<small>${marked(schema.description)}</small>`}</td></tr>`;
}

function typeOf(schema: JsonSchema): Html {
  if (schema.$ref) return html`<a href="#object-${componentOf(schema.$ref)}">${componentOf(schema.$ref)}</a>`;
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return html`${options.map((option, index) => html`${index > 0 ? ' or ' : ''}${typeOf(option)}`)}`;
  if (schema.type === 'array') return html`list of ${typeOf(schema.items ?? {})}`;
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object')
    return html`map to ${typeOf(schema.additionalProperties)}`;
  if (schema.format === 'binary') return html`file`;
  return html`${[schema.type ?? 'anything'].flat().join(' or ')}`;
}

function limitsOf(schema: JsonSchema): string[] {
  const { enum: choices, pattern, format, default: otherwise } = schema;
  return [
    ...(choices ? [`one of ${choices.join(', ')}`] : []),
    ...range(schema.minimum, schema.maximum, ''),
    ...range(schema.minLength, schema.maxLength, ' characters'),
    ...range(schema.minItems, schema.maxItems, ' entries'),
    ...(pattern ? [`like ${pattern}`] : []),
    ...(format && format !== 'binary' ? [format] : []),
    ...(otherwise === undefined ? [] : [`default ${JSON.stringify(otherwise)}`]),
  ];
}

function range(least: number | undefined, most: number | undefined, unit: string): string[] {
  if (least !== undefined && most !== undefined) return [`${least} to ${most}${unit}`];
  if (least !== undefined) return [`at least ${least}${unit}`];
  return most === undefined ? [] : [`at most ${most}${unit}`];
}

/** The operation's own errors with their messages; those that belong to the protocol are told once, below. */
function errorsOf(operation: AnyOperation): Html {
  const own = sorted(operation.declaration.errors);
  const others = sorted(protocolErrorsOf(operation)).filter((name) => !own.includes(name));
  const links = others.map(
    (name) => html`<a href="#error-${name}" title="${errorMessage(name, 'en')}">${errors[name].ref} ${name}</a>`,
  );
  const listed = html`<details class="fields"><summary>${others.length} of the protocol</summary><div class="refs">${links}</div></details>`;
  return html`${own.length > 0 ? errorTable(own, false) : ''}${listed}`;
}

const sorted = (names: readonly ErrorName[]) =>
  [...new Set(names)].sort((one, other) => errors[one].ref - errors[other].ref);

const namesIn = (operations: readonly AnyOperation[]) =>
  sorted(operations.flatMap((operation) => [...operation.declaration.errors, ...protocolErrorsOf(operation)]));

function errorTable(names: readonly ErrorName[], anchored: boolean): Html {
  const row = (name: ErrorName) =>
    html`<tr${anchored ? html` id="error-${name}"` : ''}><td><strong>${errors[name].ref}</strong> <small>${errors[name].status} ${name}</small></td><td>${errorMessage(name, 'en')}</td></tr>`;
  return table(names.map(row));
}
