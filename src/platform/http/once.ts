import type { Caller } from '../access/caller.ts';
import type { App } from '../app.ts';
import type { Database, Transaction } from '../database/database.ts';
import { claimWish, findMade, forgetWishes, settleWish, type Wish } from '../database/once.ts';
import { ApiError } from '../errors/catalogue.ts';
import { limitedAddress } from './address.ts';
import type { Exchange } from './exchange.ts';
import type { Brought } from './input.ts';
import type { AnyOperation } from './operation.ts';

type Handle = (app: App) => unknown;

/**
 * Two taps on a button make one thing. Each write of the handler claims the request first, so that of two which are the
 * same the second waits for the first, in whichever process; it goes on only where the first made nothing.
 */
export async function handleOnce(
  app: App,
  exchange: Exchange,
  operation: AnyOperation,
  brought: Brought,
  handle: Handle,
): Promise<unknown> {
  const wish = wishOf(app, exchange, operation, brought);
  const now = () => app.clock.now();
  const requireFirst = async () => {
    const location = await findMade(app.db, wish, now());
    if (location !== undefined) throw new ApiError('REQUEST_REPEATED', { location });
  };
  await requireFirst();
  const here = addressOf(app, operation, brought.params as Params);
  const write: Database['write'] = (work) =>
    app.db.write(async (transaction) => {
      if (!(await claimWish(transaction, wish, now()))) throw new ApiError('REQUEST_REPEATED');
      let location: string | undefined;
      const made: Transaction['made'] = (what) => {
        location = typeof what === 'number' ? `${here}/${what}` : (what ?? here);
      };
      const value = await work({ ...transaction, made });
      await settleWish(transaction, wish, location);
      return value;
    });
  try {
    return await handle({ ...app, db: { ...app.db, write } });
  } catch (error) {
    // Whatever else was in the way of the second, it is so because of the first.
    if (error instanceof ApiError) await requireFirst();
    throw error;
  }
}

/** Who deletes something may make the same again at once. */
export function forgettingWishes(app: App, exchange: Exchange): App {
  const caller = callerDigest(app, exchange);
  const write: Database['write'] = (work) =>
    app.db.write(async (transaction) => {
      const value = await work(transaction);
      await forgetWishes(transaction, caller);
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

/** Only digests are kept: neither who it was nor what they sent can be read from them. */
function wishOf(app: App, exchange: Exchange, { declaration }: AnyOperation, { params, payload }: Brought): Wish {
  const { api_key: _, ...fields } = payload.fields;
  const files = payload.uploads.map(({ field, filename, sha256 }) => [field, filename, sha256]);
  const language = exchange.request.headers['content-language'];
  const sent = JSON.stringify([declaration.id, params, inOrder(fields), files, language]);
  const caller = callerDigest(app, exchange);
  return { key: app.secrets.sign('made-once', `${caller} ${sent}`), caller };
}

const callerDigest = (app: App, { caller, ip }: Exchange): string => app.secrets.sign('made-once', nameOf(caller, ip));

/** A key is not a person: those who share one are told apart by where they call from. */
function nameOf(caller: Caller, ip: string): string {
  if (caller.kind === 'user') return caller.service ? `service ${caller.service.clientId}` : `user ${caller.userId}`;
  if (caller.kind === 'service') return `service ${caller.clientId}`;
  return `${caller.kind === 'key' ? `key ${caller.keyId}` : 'nobody'} ${limitedAddress(ip)}`;
}

/** The same fields in another order are the same request. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, inOrder(each)] as const);
  return entries.sort(([one], [other]) => (one < other ? -1 : 1));
}
