import { type Html, html, marked } from '../html.ts';
import { componentOf, type JsonSchema } from '../openapi/schemas.ts';
import type { OpenApiDocument } from '../openapi/types.ts';
import { DOCS_PATH, pathOfObject } from './model.ts';

const ROWS_SHOWN = 30;

/** Collapses a long table, so that the sections after it are easy to find. */
export function collapsed(rows: readonly Html[], shown = ROWS_SHOWN): Html {
  if (rows.length <= shown) return table(rows);
  return html`<details class="fields"><summary>${rows.length} fields</summary>${table(rows)}</details>`;
}

export const table = (rows: readonly Html[]): Html => html`<table><tbody>${rows}</tbody></table>`;

/** The fields of an answer, with optional ones marked. */
export function answerRows(document: OpenApiDocument, { properties = {}, required = [] }: JsonSchema): Html[] {
  return Object.entries(properties).map(([name, schema]) =>
    fieldRow(document, name, schema, required.includes(name) ? {} : { note: 'optional' }),
  );
}

interface Row {
  readonly note?: 'required' | 'optional' | undefined;
  /** Where a request sends the field. "Try it" builds its form from the rows with a place. */
  readonly place?: 'path' | 'query' | 'header' | 'body';
  readonly id?: string | undefined;
}

export function fieldRow(document: OpenApiDocument, name: string, schema: JsonSchema, { note, place, id }: Row): Html {
  const noted = note ? html` <span class="${note}">${note}</span>` : '';
  const limits = limitsOf(schema).join(' · ');
  const data = place ? html` data-in="${place}" data-kind="${kindOf(schema)}"${optionsOf(schema)}` : '';
  return html`<tr${id ? html` id="${id}"` : ''}${data}><td><code>${name}</code>${noted}</td><td>${typeOf(document, schema)}${limits && html`<small>${limits}</small>`}${schema.description && html`<small>${marked(schema.description)}</small>`}</td></tr>`;
}

/** The kind of input that "Try it" shows for a value. */
function kindOf(schema: JsonSchema): string {
  if (schema.format === 'binary') return 'file';
  if (schema.type === 'array') {
    const item = kindOf(schema.items ?? {});
    return item === 'file' ? 'files' : item === 'nested' ? 'nested' : 'list';
  }
  if (schema.$ref || schema.type === 'object' || schema.properties) return 'nested';
  return ['integer', 'number', 'boolean'].find((type) => type === schema.type) ?? 'string';
}

const optionsOf = (schema: JsonSchema): Html | string =>
  schema.enum && schema.type !== 'array' ? html` data-options="${schema.enum.join('|')}"` : '';

export function typeOf(document: OpenApiDocument, schema: JsonSchema): Html {
  if (schema.$ref) return componentLink(document, componentOf(schema.$ref));
  const options = schema.anyOf ?? schema.oneOf;
  if (options)
    return html`${options.map((option, index) => html`${index > 0 ? ' or ' : ''}${typeOf(document, option)}`)}`;
  if (schema.type === 'array') return html`list of ${typeOf(document, schema.items ?? {})}`;
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object')
    return html`map to ${typeOf(document, schema.additionalProperties)}`;
  if (schema.format === 'binary') return html`file`;
  return html`${[schema.type ?? 'anything'].flat().join(' or ')}`;
}

/** A page of a list is shown by the type of its items, because pages differ in nothing else. */
function componentLink(document: OpenApiDocument, name: string): Html {
  const item = itemOfPage(document.components.schemas[name]!);
  if (item) return html`<a href="${DOCS_PATH}#lists">page</a> of ${typeOf(document, item)}`;
  return html`<a href="${pathOfObject(name)}">${name}</a>`;
}

export function itemOfPage({ properties = {} }: JsonSchema): JsonSchema | undefined {
  return properties['result_total'] ? properties['data']?.items : undefined;
}

function limitsOf(schema: JsonSchema): string[] {
  const { enum: choices, pattern, format, default: otherwise } = schema;
  return [
    ...(choices ? [`one of ${choices.join(', ')}`] : []),
    ...range(schema.minimum, schema.maximum, ''),
    ...range(schema.minLength, schema.maxLength, ' characters'),
    ...range(schema.minItems, schema.maxItems, ' entries'),
    ...(pattern && !format ? [`pattern ${pattern}`] : []),
    ...(format && format !== 'binary' ? [format] : []),
    ...(otherwise === undefined ? [] : [`default ${JSON.stringify(otherwise)}`]),
  ];
}

function range(least: number | undefined, most: number | undefined, unit: string): string[] {
  if (least !== undefined && most !== undefined) return [`${least} to ${most}${unit}`];
  if (least !== undefined) return [`at least ${least}${unit}`];
  return most === undefined ? [] : [`at most ${most}${unit}`];
}
