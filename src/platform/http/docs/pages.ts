import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OpenApiDocument } from '../openapi/types.ts';
import type { AnyOperation } from '../operation.ts';
import { SECURITY_HEADERS } from '../security-headers.ts';
import { hasCurrent } from '../transfer/conditions.ts';
import { errorPage, errorsPage } from './error-pages.ts';
import { introductionPage, objectsPage, tagPage } from './guide-pages.ts';
import { DOCS_POLICY, layout } from './layout.ts';
import { DOCS_PATH, type DocsModel, docsModel } from './model.ts';
import { searchIndex } from './search-index.ts';

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

interface Rendered {
  readonly type: string;
  readonly bytes: Buffer;
  readonly etag: string;
}

/** The documentation pages, rendered from the declarations and cached. They can be read without scripts. */
export function createDocs(operations: readonly AnyOperation[], document: () => OpenApiDocument) {
  let model: DocsModel | undefined;
  const rendered = new Map<string, Rendered>();

  function find(path: string): Rendered | undefined {
    const known = rendered.get(path);
    if (known) return known;
    model ??= docsModel(operations, document());
    const page = render(model, path);
    if (page) rendered.set(path, page);
    return page;
  }

  /** Sends the page at the path; returns false if there is none. */
  return (request: IncomingMessage, response: ServerResponse, path: string): boolean => {
    const page = find(path);
    if (page) send(request, response, page);
    return page !== undefined;
  };
}

export const isDocsPath = (path: string): boolean => path === DOCS_PATH || path.startsWith(`${DOCS_PATH}/`);

function render(model: DocsModel, path: string): Rendered | undefined {
  if (path === `${DOCS_PATH}/search.json`) return renderedAs(JSON_TYPE, JSON.stringify(searchIndex(model)));
  const page = (title: string, body: Parameters<typeof layout>[1]['body'], tries = false) =>
    renderedAs(HTML, layout(model, { path, title, body, tries }));
  if (path === DOCS_PATH) return page(`${model.document.info.title} API`, introductionPage(model));
  if (path === `${DOCS_PATH}/objects`) return page('Objects', objectsPage(model));
  if (path === `${DOCS_PATH}/errors`) return page('Errors', errorsPage(model));
  const group = model.groups.find(({ slug }) => path === `${DOCS_PATH}/${slug}`);
  if (group) return page(group.name, tagPage(model, group), true);
  const [, ref] = ERROR.exec(path) ?? [];
  const body = ref === undefined ? undefined : errorPage(model, Number(ref));
  return body && page(`Error ${ref}`, body);
}

/** Without leading zeros, so that every page has one address and the cache stays small. */
const ERROR = /^\/v1\/docs\/errors\/(0|[1-9]\d{0,6})$/;

function renderedAs(type: string, text: string): Rendered {
  const bytes = Buffer.from(text);
  return { type, bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"` };
}

function send(request: IncomingMessage, response: ServerResponse, { type, bytes, etag }: Rendered): void {
  const headers = [
    'etag',
    etag,
    'cache-control',
    'no-cache',
    'content-security-policy',
    DOCS_POLICY,
    ...SECURITY_HEADERS,
  ];
  if (hasCurrent(request.headers, etag)) {
    response.writeHead(304, headers);
    response.end();
    return;
  }
  response.writeHead(200, [...headers, 'content-type', type, 'content-length', String(bytes.length)]);
  response.end(bytes);
}
