import { requireGameAdministrator } from '../../catalogue/games/games.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import {
  DIGITS,
  type FieldRules,
  isKeyOf,
  mergeValues,
  neededTogether,
  type RulesByField,
  refuseInvalidFields,
  splitSecrets,
  type Values,
  WEB_ADDRESS,
} from '../../platform/config/field-rules.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { auditGame } from '../../records/audit/audit.ts';
import type { StorePortal, StoreSettings } from './adapter.ts';
import * as store from './store.ts';

const REVERSED_DOMAIN = (value: string) => /^[\w-]+(?:\.[\w-]+)+$/.test(value);
/** What a game must and may say about itself for each store. */
export const STORE_FIELDS = {
  apple: {
    bundle_id: { fits: REVERSED_DOMAIN },
    issuer_id: { optional: true },
    key_id: { optional: true },
    private_key: { secret: true, optional: true, fits: (value) => isKeyOf('ec', value) },
  },
  epicgames: {
    client_id: {},
    client_secret: { secret: true },
    sandbox_id: { fits: (value) => /^[\w-]+$/.test(value) },
    deployment_id: { optional: true },
    user_client_ids: { list: true, optional: true },
  },
  google: {
    package_name: { fits: REVERSED_DOMAIN },
    service_account_email: {},
    private_key: { secret: true, fits: (value) => isKeyOf('rsa', value) },
    push_audience: { optional: true },
    push_email: { optional: true },
  },
  oculus: { app_id: { fits: DIGITS }, app_secret: { secret: true } },
  psn: {
    client_id: {},
    client_secret: { secret: true },
    entitlements_url: { fits: WEB_ADDRESS },
    token_url: { optional: true, fits: WEB_ADDRESS },
    redirect_uri: { optional: true },
    scope: { optional: true },
  },
  steam: { app_id: { fits: DIGITS }, web_api_key: { secret: true, fits: (value) => /^[\dA-F]{32}$/i.test(value) } },
  xboxlive: {
    sandbox: { optional: true },
    tenant_id: { optional: true, fits: (value) => /^[\w.-]+$/.test(value) },
    client_id: { optional: true },
    client_secret: { secret: true, optional: true },
  },
} as const satisfies Record<StorePortal, Record<string, FieldRules>>;

/** Fields that are needed as soon as one of them is set. */
const TOGETHER: Partial<Record<StorePortal, readonly string[]>> = {
  apple: ['issuer_id', 'key_id', 'private_key'],
  google: ['push_audience', 'push_email'],
  xboxlive: ['tenant_id', 'client_id', 'client_secret'],
};

/** The field that is the game's name at the store. */
const STORE_APP: Partial<Record<StorePortal, string>> = { apple: 'bundle_id', google: 'package_name' };

const fieldsOf = (portal: StorePortal): RulesByField => STORE_FIELDS[portal];

/** The game and the store are part of the purpose, so that a secret is of no use in another row. */
const purposeOf = ({ game_id, portal }: Pick<store.SettingsRow, 'game_id' | 'portal'>) =>
  `stores/settings/${game_id}/${portal}`;

const valuesOf = (app: App, row: store.SettingsRow): Values => ({
  ...JSON.parse(row.fields),
  ...JSON.parse(app.secrets.unseal(purposeOf(row), row.secrets)),
});

/** The settings with their secrets; undefined if the game does not sell at the store. */
export async function storeSettingsFor(
  app: App,
  gameId: number,
  portal: StorePortal,
): Promise<StoreSettings | undefined> {
  const row = await store.settingsOf(app.db.query, gameId, portal);
  return row && valuesOf(app, row);
}

/** The games that sell under this name at a store. Nothing keeps two games from naming the same. */
export async function gamesOfStoreApp(
  app: App,
  portal: StorePortal,
  storeApp: string,
): Promise<readonly { readonly gameId: number; readonly settings: StoreSettings }[]> {
  const rows = storeApp ? await store.settingsOfApp(app.db.query, portal, storeApp) : [];
  return rows.map((row) => ({ gameId: row.game_id, settings: valuesOf(app, row) }));
}

/** All games that have configured a store. */
export const gamesSellingAt = async (app: App, portal: StorePortal) =>
  (await store.settingsAt(app.db.query, portal)).map((row) => ({ gameId: row.game_id, settings: valuesOf(app, row) }));

export interface ShownStoreSettings {
  readonly portal: StorePortal;
  readonly fields: Values;
  /** The names of the secrets that are set. */
  readonly secrets: readonly string[];
  readonly dateUpdated: number;
}

const shown = (app: App, row: store.SettingsRow): ShownStoreSettings => ({
  portal: row.portal as StorePortal,
  fields: JSON.parse(row.fields),
  secrets: Object.keys(JSON.parse(app.secrets.unseal(purposeOf(row), row.secrets))),
  dateUpdated: row.date_updated,
});

export async function listStoreSettings(app: App, caller: UserCaller, gameId: number): Promise<ShownStoreSettings[]> {
  await requireGameAdministrator(app.db, caller, gameId);
  return (await store.allSettingsOf(app.db.query, gameId)).map((row) => shown(app, row));
}

/** The audit log names the fields that were set, never their values. */
export const changeStoreSettings = (
  app: App,
  caller: UserCaller,
  gameId: number,
  portal: StorePortal,
  changes: StoreSettings,
): Promise<ShownStoreSettings> =>
  app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    const put = await putStoreSettings(app, transaction, gameId, portal, changes);
    const data = { portal, fields: Object.keys(changes) };
    await auditGame(app, transaction, caller, gameId, { action: 'stores-set', data });
    return put;
  });

export const removeStoreSettings = (app: App, caller: UserCaller, gameId: number, portal: StorePortal): Promise<void> =>
  app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    if (!(await store.removeSettings(transaction.query, gameId, portal))) throw new ApiError('RESOURCE_NOT_FOUND');
    await auditGame(app, transaction, caller, gameId, { action: 'stores-remove', data: { portal } });
  });

/** Fields that `changes` does not name keep their values; empty ones are removed. */
export async function putStoreSettings(
  app: App,
  { query }: Transaction,
  gameId: number,
  portal: StorePortal,
  changes: StoreSettings,
): Promise<ShownStoreSettings> {
  const before = await store.settingsOf(query, gameId, portal);
  const settings = mergeValues(before && valuesOf(app, before), changes);
  refuseInvalidFields(fieldsOf(portal), settings, neededTogether(TOGETHER[portal], settings));
  const { fields, secrets } = splitSecrets(fieldsOf(portal), settings);
  const row = {
    game_id: gameId,
    portal,
    store_app: String(settings[STORE_APP[portal] ?? ''] ?? ''),
    fields: JSON.stringify(fields),
    secrets: app.secrets.seal(purposeOf({ game_id: gameId, portal }), JSON.stringify(secrets)),
    date_updated: app.clock.now(),
  };
  await store.putSettings(query, row);
  return shown(app, row);
}
