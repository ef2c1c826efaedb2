import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App } from '../app.ts';
import { type Environment, type HostScope, isSiteHost } from '../config/addresses.ts';
import type { Settings } from '../config/settings.ts';
import { createDocs, isDocsPath } from './docs/pages.ts';
import { answerFile } from './files.ts';
import { gaugesText } from './gauges.ts';
import { type FindLegalText, LEGAL_POLICY, legalPage } from './legal.ts';
import { openApiDocument } from './openapi/document.ts';
import type { OpenApiDocument } from './openapi/types.ts';
import type { AnyOperation } from './operation.ts';
import { CONTENT_HEADERS } from './security-headers.ts';
import type { Transfers } from './transfer/transfer.ts';

export interface SystemRouteParts {
  readonly settings: Settings;
  readonly apps: Readonly<Record<Environment, App>>;
  readonly operations: readonly AnyOperation[];
  /** The metrics of all processes of the service, as Prometheus text; nothing if they did not report in time. */
  readonly metrics: () => Promise<string | undefined>;
  readonly transfers: Transfers;
  readonly health: { readonly draining: boolean };
  readonly legal: FindLegalText;
  /** The site shows legal texts itself, except without links, as consoles want them. */
  readonly hasSite: boolean;
  /** The public page of a resource, by kind and id. */
  readonly pageOf: (app: App, kind: string, id: number) => Promise<string | undefined>;
}

/** SDKs request these on the API hosts, but pages exist on the site's host only. */
const WIDGET = /^(?:\/v1)?(\/widgets\/(?:age-gate|airwallex|tilia))\/?$/;
const SEARCH = /^\/search\/([a-z]+)\/(\d{1,15})\/?$/;

type Page = (request: IncomingMessage, response: ServerResponse, scope: HostScope) => void | Promise<void>;

/**
 * Routes besides the operations: health, metrics, the OpenAPI document, legal texts, stored images and redirects by id.
 */
export function createSystemRoutes({
  settings,
  apps,
  operations,
  metrics,
  transfers,
  health,
  legal,
  hasSite,
  pageOf,
}: SystemRouteParts) {
  // Building the document takes half a second of CPU, so the JSON and the pages share it.
  let document: OpenApiDocument | undefined;
  const documentOnce = () => (document ??= openApiDocument(operations));
  let description: string | undefined;
  const describe = () => (description ??= JSON.stringify(documentOnce()));
  const docs = createDocs(operations, documentOnce);
  const pages = new Map<string, Page>(
    Object.entries({
      '/healthz': (_request, response) => sendText(response, 200, 'ok\n'),
      '/readyz': (_request, response) => answerReadiness(response, apps, health),
      '/metrics': (request, response) => answerMetrics(request, response, settings, apps, metrics),
      '/v1/openapi.json': (_request, response) =>
        sendText(response, 200, describe(), 'application/json; charset=utf-8'),
    } satisfies Record<string, Page>),
  );

  return (request: IncomingMessage, response: ServerResponse, path: string, scope: HostScope) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const page = pages.get(path);
    if (page) return answered(page(request, response, scope));
    if (isDocsPath(path)) return docs(request, response, path) && answered();
    const widget = path.includes('/widgets/') ? WIDGET.exec(path)?.[1] : undefined;
    if (widget && (path.startsWith('/v1/') || scope.gameId !== undefined || scope.userId !== undefined))
      return redirected(response, Promise.resolve(apps[scope.environment].addresses.site + widget));
    if (path.startsWith('/v1/')) return false;
    if (path.startsWith('/legal/') && !(hasSite && isOfSite(request, settings)))
      return answerLegal(apps[scope.environment], request, response, path, legal);
    const [, kind, id] = SEARCH.exec(path) ?? [];
    if (kind) return redirected(response, pageOf(apps[scope.environment], kind, Number(id)));
    if (!path.startsWith('/files/')) return false;
    return answerFile(apps[scope.environment], transfers, request, response, path.slice('/files/'.length));
  };
}

const isOfSite = ({ headers, url }: IncomingMessage, { domain }: Settings) =>
  isSiteHost(headers.host, domain) && !url?.includes('no_links=true');

async function answered(page?: void | Promise<void>): Promise<boolean> {
  await page;
  return true;
}

/** A temporary redirect, because names change and a public resource may be hidden later. */
async function redirected(response: ServerResponse, found: Promise<string | undefined>): Promise<boolean> {
  const address = await found;
  if (address === undefined) return false;
  sendText(response, 302, '', undefined, ['location', address]);
  return true;
}

function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  type = 'text/plain; charset=utf-8',
  headers: readonly string[] = [],
): void {
  const bytes = Buffer.from(text);
  response.writeHead(status, [
    'content-type',
    type,
    'content-length',
    String(bytes.length),
    'cache-control',
    'no-cache',
    ...CONTENT_HEADERS,
    ...headers,
  ]);
  response.end(bytes);
}

async function answerLegal(
  app: App,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  find: FindLegalText,
): Promise<boolean> {
  const search = request.url?.split('?', 2)[1] ?? '';
  const page = await legalPage(app, path.slice('/legal/'.length), search, find);
  if (page === undefined) return false;
  sendText(response, 200, page, 'text/html; charset=utf-8', ['content-security-policy', LEGAL_POLICY]);
  return true;
}

async function answerReadiness(
  response: ServerResponse,
  apps: Readonly<Record<Environment, App>>,
  health: { readonly draining: boolean },
): Promise<void> {
  if (health.draining) return sendText(response, 503, 'draining\n');
  try {
    const answering = await Promise.all(Object.values(apps).map(({ db }) => isAnswering(db)));
    if (answering.every(Boolean)) return sendText(response, 200, `ready\n${warningsOf(apps)}`);
  } catch {
    // As below.
  }
  sendText(response, 503, 'the database does not answer\n');
}

/** A service with these still serves, so it stays ready: a load balancer could do nothing about them. */
const warningsOf = (apps: Readonly<Record<Environment, App>>): string =>
  Object.values(apps)
    .flatMap(({ environment, db: { condition } }) => [
      ...(condition.isReadOnly ? [`warning: the ${environment} database cannot be written\n`] : []),
      ...(condition.damage.length > 0 ? [`warning: the ${environment} database is damaged\n`] : []),
    ])
    .join('');

const CHECK_PATIENCE_MS = 500;

/**
 * Asks the database. If all connections are busy with requests, the connection for notifications shows whether it
 * responds, so that an overloaded service is not taken for a broken one.
 */
async function isAnswering(db: App['db']): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const isHeard = () => db.changes.unchangedSince(db.changes.now(), 'readiness');
  const patience = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(isHeard()), CHECK_PATIENCE_MS);
  });
  try {
    return await Promise.race([db.check().then(() => true), patience]);
  } finally {
    clearTimeout(timer);
  }
}

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

async function answerMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  settings: Settings,
  apps: Readonly<Record<Environment, App>>,
  metrics: () => Promise<string | undefined>,
): Promise<void> {
  const isLocal = LOOPBACK.has(request.socket.remoteAddress ?? '') && request.headers['x-forwarded-for'] === undefined;
  if (!isLocal && !bearsToken(request, settings.metricsToken))
    return sendText(response, 403, 'Read from loopback, or with MODSTEAD_METRICS_TOKEN as bearer token.\n');
  const [text, gauges] = await Promise.all([metrics(), gaugesText(apps)]);
  if (text === undefined) return sendText(response, 503, 'The processes did not report in time.\n');
  sendText(response, 200, text + gauges, 'text/plain; version=0.0.4; charset=utf-8');
}

function bearsToken(request: IncomingMessage, token: string | undefined): boolean {
  if (!token) return false;
  const given = Buffer.from(request.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
