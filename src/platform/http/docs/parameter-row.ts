import { type Html, html } from '../html.ts';
import type { JsonSchema } from '../openapi/schemas.ts';
import { type OpenApiDocument, type Parameter, resolve } from '../openapi/types.ts';
import type { Entry } from './model.ts';
import { fieldRow, table } from './schema-table.ts';

export function parameterRow(document: OpenApiDocument, parameter: Parameter, id?: string): Html {
  const { name, in: place, schema, description, required } = parameter;
  const described: JsonSchema = description ? { ...schema, description } : schema;
  const note = required && place !== 'path' ? 'required' : undefined;
  return fieldRow(document, name, described, { note, place, id });
}

const COMMON_HEADERS: readonly string[] = [
  'Accept-Language',
  'Content-Language',
  'X-Service-Platform',
  'X-Service-Portal',
];

/** Almost every operation reads these headers. A page describes them once: repeated, they were a fifth of its bytes. */
export const isCommonHeader = ({ name, in: place }: Parameter): boolean =>
  place === 'header' && COMMON_HEADERS.includes(name);

const anchorOf = ({ name }: Parameter) => `header-${name.toLowerCase()}`;

/** "Try it" follows these links to the rows that describe the headers. */
export function commonHeaderLinks(headers: readonly Parameter[]): Html | string {
  if (headers.length === 0) return '';
  const link = (header: Parameter, index: number) =>
    html`${index > 0 ? ', ' : ''}<a href="#${anchorOf(header)}" data-field><code>${header.name}</code></a>`;
  return html`<p>${headers.map(link)}</p>`;
}

/** The section of a page that describes the common headers of its operations. */
export function commonHeaders(document: OpenApiDocument, entries: readonly Entry[]): Html {
  const parameters = entries
    .flatMap(({ described }) => described.parameters.map((each) => resolve<Parameter>(document, each)))
    .filter(isCommonHeader);
  const headers = COMMON_HEADERS.flatMap((name) => parameters.find((parameter) => parameter.name === name) ?? []);
  const rows = headers.map((header) => parameterRow(document, header, anchorOf(header)));
  return html`<section id="headers"><h2>Headers</h2>${table(rows)}</section>`;
}
