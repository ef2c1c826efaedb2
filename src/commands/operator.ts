import { SITE_FACT } from '../catalogue/games/documents.ts';
import type { GameRow } from '../catalogue/games/games.ts';
import type { UserRow } from '../people/users/users.ts';
import { OPERATOR } from '../platform/access/caller.ts';
import type { App } from '../platform/app.ts';
import { type Addresses, addressesOf, type Environment } from '../platform/config/addresses.ts';
import { SettingError, type Settings } from '../platform/config/settings.ts';
import type { Transaction } from '../platform/database/database.ts';
import { factOf } from '../platform/database/facts.ts';
import { ApiError } from '../platform/errors/catalogue.ts';
import { audit } from '../records/audit/audit.ts';
import { PROGRAM, Refusal } from './invocation/command.ts';

/**
 * Runs the work on a migrated environment and closes it afterwards. The service is imported only here, because refused
 * commands and help do not need it.
 */
export async function withApp<T>(
  settings: Settings,
  environment: Environment,
  work: (app: App, addresses: Addresses) => Promise<T>,
): Promise<T> {
  const { closeApp, composeApp, outsideOf } = await import('../composition/compose.ts');
  const app = await composeApp(settings, environment, outsideOf(settings));
  try {
    await requireMigrated(app);
    const addresses = await addressesInUse(app);
    // Without a port in the settings, only the running service knows its port.
    return await work({ ...app, addresses }, settings.port || settings.publicPort ? app.addresses : addresses);
  } finally {
    await closeApp(app);
  }
}

/** Logs an action of the operator. */
export function auditCommand(
  app: App,
  transaction: Transaction,
  action: string,
  { gameId = 0, ...named }: { resource: string; id: number; gameId?: number },
  data: Record<string, unknown> = {},
): Promise<void> {
  return audit(app, transaction, { actor: OPERATOR.userId, action, subject: { ...named, gameId }, data });
}

export async function requireMigrated(app: App): Promise<void> {
  const { pendingMigrations } = await import('../platform/database/migrate.ts');
  const { migrations } = await import('../composition/migrations.ts');
  const pending = await pendingMigrations(app.db, migrations);
  if (pending.length > 0)
    throw new SettingError(
      `The ${app.environment} database lacks ${pending.length} migration(s); run "${PROGRAM} migrate" first.`,
    );
}

/**
 * The addresses of the last run of the service, which rows must contain even if the command was started without the
 * service's settings.
 */
async function addressesInUse({ db, environment, addresses }: App): Promise<Addresses> {
  const site = await factOf(db.query, SITE_FACT);
  if (!site || site === addresses.site) return addresses;
  const { hostname, port } = new URL(site);
  const domain = environment === 'sandbox' ? hostname.replace(/^test\./, '') : hostname;
  return addressesOf({ domain, port: Number(port || 443), publicPort: 0 }, environment);
}

export async function requireKnownGame(app: App, id: number): Promise<GameRow> {
  const { requireGameRow } = await import('../catalogue/games/games.ts');
  return requireGameRow(app, OPERATOR, id).catch(refusing(`There is no game ${id} in ${placeOf(app)}.`));
}

export async function requireKnownUser(app: App, id: number): Promise<UserRow> {
  const { requireUser } = await import('../people/users/users.ts');
  return requireUser(app, id).catch(refusing(`There is no user ${id} in ${placeOf(app)}.`));
}

const placeOf = ({ environment }: App) => (environment === 'sandbox' ? 'the sandbox' : 'production');

function refusing(sentence: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof ApiError ? new Refusal(sentence) : error;
  };
}
