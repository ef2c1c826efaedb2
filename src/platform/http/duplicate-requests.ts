import type { Caller } from '../access/caller.ts';
import type { App } from '../app.ts';
import type { Database, Transaction } from '../database/database.ts';
import {
  claimRequest,
  findResult,
  forgetRequests,
  type RequestKey,
  recordResult,
} from '../database/duplicate-requests.ts';
import { ApiError } from '../errors/catalogue.ts';
import { limitedAddress } from './address.ts';
import type { Exchange } from './exchange.ts';
import type { ParsedRequest } from './input.ts';
import type { AnyOperation } from './operation.ts';

type Handle = (app: App) => unknown;

/**
 * Runs the handler of a creating operation once per identical request. Each transaction first claims the request's key,
 * so a duplicate waits for the first one in whichever process and continues only if that created nothing.
 */
export async function handleOnce(
  app: App,
  exchange: Exchange,
  operation: AnyOperation,
  parsed: ParsedRequest,
  handle: Handle,
): Promise<unknown> {
  const requestKey = requestKeyOf(app, exchange, operation, parsed);
  const now = () => app.clock.now();
  const requireFirst = async () => {
    const location = await findResult(app.db, requestKey, now());
    if (location !== undefined) throw new ApiError('REQUEST_REPEATED', { location });
  };
  await requireFirst();
  const here = addressOf(app, operation, parsed.params as Params);
  const write: Database['write'] = (work) =>
    app.db.write(async (transaction) => {
      if (!(await claimRequest(transaction, requestKey, now()))) throw new ApiError('REQUEST_REPEATED');
      let location: string | undefined;
      const made: Transaction['made'] = (what) => {
        location = typeof what === 'number' ? `${here}/${what}` : (what ?? here);
      };
      const value = await work({ ...transaction, made });
      await recordResult(transaction, requestKey, location);
      return value;
    });
  try {
    return await handle({ ...app, db: { ...app.db, write } });
  } catch (error) {
    // Any other error of the duplicate is a consequence of the first request.
    if (error instanceof ApiError) await requireFirst();
    throw error;
  }
}

/** After a deletion the caller may create the same thing again at once. */
export function forgettingRequests(app: App, exchange: Exchange): App {
  const caller = callerDigest(app, exchange);
  const write: Database['write'] = (work) =>
    app.db.write(async (transaction) => {
      const value = await work(transaction);
      await forgetRequests(transaction, caller);
      return value;
    });
  return { ...app, db: { ...app.db, write } };
}

type Params = Readonly<Record<string, string | number>>;

function addressOf({ addresses }: App, { declaration }: AnyOperation, params: Params): string {
  const { game_id } = params;
  const path = declaration.path.replace(/\{(\w+)\}/g, (_: string, name: string) => String(params[name]));
  return `${game_id === undefined ? addresses.api : addresses.gameApi(Number(game_id))}${path}`;
}

/** Stores digests only, from which neither the caller nor the content can be read. */
function requestKeyOf(
  app: App,
  exchange: Exchange,
  { declaration }: AnyOperation,
  { params, payload }: ParsedRequest,
): RequestKey {
  const { api_key: _, ...fields } = payload.fields;
  const files = payload.uploads.map(({ field, filename, sha256 }) => [field, filename, sha256]);
  const language = exchange.request.headers['content-language'];
  const sent = JSON.stringify([declaration.id, params, inOrder(fields), files, language]);
  const caller = callerDigest(app, exchange);
  return { key: app.secrets.sign('made-once', `${caller} ${sent}`), caller };
}

const callerDigest = (app: App, { caller, ip }: Exchange): string => app.secrets.sign('made-once', nameOf(caller, ip));

/** Users who share an API key are distinguished by their address. */
function nameOf(caller: Caller, ip: string): string {
  if (caller.kind === 'user') return caller.service ? `service ${caller.service.clientId}` : `user ${caller.userId}`;
  if (caller.kind === 'service') return `service ${caller.clientId}`;
  return `${caller.kind === 'key' ? `key ${caller.keyId}` : 'nobody'} ${limitedAddress(ip)}`;
}

/** The order of fields does not matter. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, inOrder(each)] as const);
  return entries.sort(([one], [other]) => (one < other ? -1 : 1));
}
