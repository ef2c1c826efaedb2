import { STATUS_CODES } from 'node:http';
import { type Access, isForKeys } from '../../access/caller.ts';
import { HOLDERS, type Power } from '../../access/powers.ts';
import { type ErrorName, errors } from '../../errors/catalogue.ts';
import { errorMessage } from '../../errors/messages.ts';
import { type Html, html, marked } from '../html.ts';
import { type OpenApiDocument, type Parameter, type Response, resolve } from '../openapi/types.ts';
import type { AnyOperation } from '../operation.ts';
import { protocolErrorsOf } from '../protocol-errors.ts';
import { exampleOf } from './example.ts';
import { DOCS_PATH, type Entry, isUniversal, pathOfError } from './model.ts';
import { commonHeaderLinks, isCommonHeader, parameterRow } from './parameter-row.ts';
import { answerRows, collapsed, fieldRow, table, typeOf } from './schema-table.ts';

/** One operation with its parameters, response, errors and an example. */
export function operationEntry(document: OpenApiDocument, { operation, described }: Entry): Html {
  const { id, method, path, says, access, limit, deprecated } = operation.declaration;
  const ending = deprecated
    ? ` Deprecated since ${deprecated.since}; ends on ${deprecated.sunset}. Use ${deprecated.instead} instead.`
    : '';
  const perMinute = limit === undefined ? '' : ` At most ${limit} requests a minute.`;
  const [type, body] = bodyOf(document, described);
  return html`<details class="entry">
<summary><h3><span class="method ${method.toLowerCase()}">${method}</span> <code class="route">${path}</code></h3><code class="id">${id}</code><span class="says">${marked(says)}</span></summary>
<div class="body" id="${id}" data-method="${method}" data-path="${path}" data-type="${type ?? ''}" data-credential="${credentialOf(access, method)}">
<h4>Access</h4><p>${accessText(access)}${perMinute}${ending}</p>
${parameterTables(document, described.parameters)}
${body}
<h4>Answer</h4>${answer(document, operation, described.responses)}
<h4>Errors</h4>${errorList(operation)}
<h4>Example</h4><pre tabindex="0" aria-label="Example of ${id}">${exampleOf(operation, described)}</pre>
</div>
</details>`;
}

/** The credentials that "Try it" offers: a key, a token, either, or a free Authorization header. */
function credentialOf(access: Access, method: string): string {
  switch (access.kind) {
    case 'anyone':
      return 'header';
    case 'authentication':
      return 'key';
    case 'reader':
      return isForKeys(access, method) ? 'either' : 'token';
    default:
      return 'token';
  }
}

function accessText(access: Access): string {
  switch (access.kind) {
    case 'anyone':
      return 'Anyone, without credentials.';
    case 'reader':
      return `An API key, an access token with the scope read, or a service token with the scope ${access.keyWrites ? 'write' : 'read'}.`;
    case 'user':
      return `An access token with the scope ${access.scope}${access.service ? `, or a service token with the scope ${access.service}` : ''}. ${holdersText(access.power)}`;
    case 'service':
      return `A service token with the scopes ${[access.scope, ...access.besides].join(' and ')}.`;
    case 'authentication':
      return 'An API key.';
  }
}

/** Which of a user's tokens have the power. */
function holdersText(power: Power): string {
  const { game, application } = HOLDERS[power];
  const holder = (who: string, says: string | undefined) => `${who}: ${says ?? 'no'}`;
  return `Power: ${power}. Tokens of a sign-in on the site: yes; ${holder('of a game', game)}; ${holder('of an application', application)}.`;
}

const PLACES: readonly [Parameter['in'], string][] = [
  ['path', 'Path'],
  ['query', 'Query'],
  ['header', 'Headers'],
];

function parameterTables(document: OpenApiDocument, declared: Entry['described']['parameters']): Html[] {
  const parameters = declared.map((parameter) => resolve<Parameter>(document, parameter));
  return PLACES.flatMap(([place, title]) => {
    const here = parameters.filter((parameter) => parameter.in === place);
    const [common, own] = [here.filter(isCommonHeader), here.filter((parameter) => !isCommonHeader(parameter))];
    const rows = own.map((parameter) => parameterRow(document, parameter));
    if (here.length === 0) return [];
    return [html`<h4>${title}</h4>${rows.length > 0 ? collapsed(rows) : ''}${commonHeaderLinks(common)}`];
  });
}

function bodyOf(document: OpenApiDocument, { requestBody }: Entry['described']): [type?: string, body?: Html] {
  const [content] = Object.entries(requestBody?.content ?? {});
  if (!content) return [];
  const [type, { schema }] = content;
  const { properties = {}, required = [] } = schema;
  const rows = Object.entries(properties).map(([name, field]) =>
    fieldRow(document, name, field, { note: required.includes(name) ? 'required' : undefined, place: 'body' }),
  );
  const bytes = schema.description ? html`<p>${marked(schema.description)}</p>` : '';
  return [type, html`<h4>Body</h4><p><code>${type}</code></p>${rows.length > 0 ? collapsed(rows) : bytes}`];
}

function answer(document: OpenApiDocument, { declaration }: AnyOperation, responses: Entry['described']['responses']) {
  const { status, orThere } = declaration.returns;
  const { content, description } = resolve<Response>(document, responses[status]!);
  const schema = content?.['application/json']?.schema;
  const what = schema ? html`, ${typeOf(document, schema)}` : content ? html`: ${description}` : '';
  const line = html`<p><strong>${status}</strong> ${STATUS_CODES[status]}${what}${status === 201 ? ', with its address in Location' : ''}${orThere ? '; 200 if it existed already' : ''}</p>`;
  return schema?.properties ? html`${line}${table(answerRows(document, schema))}` : line;
}

/** The operation's own errors with their messages, then those of its access and of its parameters. */
function errorList(operation: AnyOperation): Html {
  const own = sorted(operation.declaration.errors);
  const others = sorted(protocolErrorsOf(operation)).filter((name) => !own.includes(name) && !isUniversal(name));
  const rows = own.map(
    (name) =>
      html`<tr><td><a href="${pathOfError(errors[name].ref)}"><strong>${errors[name].ref}</strong></a> <small>${errors[name].status} ${name}</small></td><td>${errorMessage(name, 'en')}</td></tr>`,
  );
  const links = others.map(
    (name) => html`<li><a href="${pathOfError(errors[name].ref)}">${errors[name].ref}</a> ${name}</li>`,
  );
  const protocol = html`<details class="fields"><summary>${links.length} protocol errors</summary><ul class="refs">${links}</ul></details>`;
  return html`${rows.length > 0 ? table(rows) : ''}${links.length > 0 ? protocol : ''}<p><small>In addition to the errors of <a href="${DOCS_PATH}/errors#universal">every operation</a>.</small></p>`;
}

const sorted = (names: readonly ErrorName[]) =>
  [...new Set(names)].sort((one, other) => errors[one].ref - errors[other].ref);
