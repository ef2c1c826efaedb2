import { requireGameAdministrator } from '../../catalogue/games/games.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
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
import type { LinkedPortal } from '../../platform/vocabulary/game-platforms.ts';
import { auditGame } from '../../records/audit/audit.ts';
import { isMakerAddress, type PortalSettings } from './identity.ts';
import * as store from './store.ts';

/** An address for browsers. A fragment is not sent to servers, so it is refused. */
const PAGE_ADDRESS = (value: string) => URL.parse(value)?.protocol === 'https:' && !value.includes('#');
const BOOLEAN = (value: string) => value === 'true' || value === 'false';
/** Whether users can also sign in on the web if the required fields are set; true unless it is `false`. */
const WEB = { optional: true, fits: BOOLEAN } as const;

/** Addresses of a console maker’s web sign-in, if they differ from the public ones. */
const webAddressesOf = (portal: LinkedPortal) =>
  ({
    // The link is labelled with the maker’s name, so it must lead to the maker’s domain.
    authorize_url: { optional: true, fits: (value: string) => PAGE_ADDRESS(value) && isMakerAddress(portal, value) },
    web_token_url: { optional: true, fits: WEB_ADDRESS },
    web_issuer: { optional: true },
    web_keys_url: { optional: true, fits: WEB_ADDRESS },
  }) as const;

/** The required and optional settings of each portal. */
export const PORTAL_FIELDS = {
  apple: {
    bundle_ids: { list: true },
    services_id: { optional: true },
    team_id: { optional: true },
    key_id: { optional: true },
    private_key: { secret: true, optional: true, fits: (value) => isKeyOf('ec', value) },
    web: WEB,
  },
  discord: { client_id: { fits: DIGITS }, client_secret: { secret: true, optional: true }, web: WEB },
  epicgames: { client_ids: { list: true }, client_secret: { secret: true, optional: true }, web: WEB },
  facebook: { app_id: { fits: DIGITS }, app_secret: { secret: true }, web: WEB },
  gog: {
    client_id: { fits: DIGITS },
    ticket_key: { secret: true, fits: (value) => Buffer.from(value, 'base64url').length === 32 },
    client_secret: { secret: true, optional: true },
    web: WEB,
  },
  google: {
    client_ids: { list: true },
    client_secret: { secret: true, optional: true },
    redirect_uri: { optional: true },
    web: WEB,
  },
  itchio: { itch_game_id: { fits: DIGITS }, client_id: { optional: true }, web: WEB },
  nintendo: {
    app_ids: { list: true, fits: (value) => /^[\da-f]{16}$/i.test(value) },
    issuer: { optional: true },
    keys_url: { optional: true, fits: WEB_ADDRESS },
    client_id: { optional: true },
    client_secret: { secret: true, optional: true },
    ...webAddressesOf('nintendo'),
    web: WEB,
  },
  oculus: {
    quest_app_id: { optional: true, fits: DIGITS },
    quest_app_secret: { secret: true, optional: true },
    rift_app_id: { optional: true, fits: DIGITS },
    rift_app_secret: { secret: true, optional: true },
    organization_id: { optional: true, fits: DIGITS },
    web: WEB,
  },
  psn: {
    client_id: {},
    client_secret: { secret: true },
    redirect_uri: { optional: true },
    issuer: { optional: true },
    keys_url: { optional: true, fits: WEB_ADDRESS },
    token_url: { optional: true, fits: WEB_ADDRESS },
    child_claim: { optional: true },
    ugc_claim: { optional: true },
    web_client_id: { optional: true },
    web_client_secret: { secret: true, optional: true },
    ...webAddressesOf('psn'),
    web: WEB,
  },
  sso: {
    jwks_url: { optional: true, fits: WEB_ADDRESS },
    issuer: { optional: true },
    audience: { optional: true },
    display_name_claim: { optional: true },
    avatar_claim: { optional: true },
    active: { optional: true, fits: BOOLEAN },
    authorize_url: { optional: true, fits: PAGE_ADDRESS },
    token_url: { optional: true, fits: WEB_ADDRESS },
    userinfo_url: { optional: true, fits: WEB_ADDRESS },
    client_id: { optional: true },
    client_secret: { secret: true, optional: true },
    client_authentication: { optional: true, fits: (value) => value === 'post' || value === 'basic' },
    scopes: { optional: true, fits: (value) => /^[\x21\x23-\x5b\x5d-\x7e ]+$/.test(value) },
    portal_id_claim: { optional: true },
    web: WEB,
  },
  steam: {
    app_id: { fits: DIGITS },
    ticket_key: { secret: true, fits: (value) => /^[\da-f]{64}$/i.test(value) },
    web_api_key: { secret: true, optional: true },
    web: WEB,
  },
  xboxlive: {
    relying_party: {},
    private_key: { secret: true, fits: (value) => isKeyOf('rsa', value) },
    keys_url: { optional: true, fits: WEB_ADDRESS },
    client_id: { optional: true },
    client_secret: { secret: true, optional: true },
    web: WEB,
  },
} as const satisfies Record<LinkedPortal, Record<string, FieldRules>>;

/** Fields that are required together. */
const TOGETHER: Partial<Record<LinkedPortal, readonly string[]>> = {
  apple: ['services_id', 'team_id', 'key_id', 'private_key'],
  nintendo: ['client_id', 'client_secret'],
  psn: ['web_client_id', 'web_client_secret'],
  sso: ['authorize_url', 'token_url', 'userinfo_url', 'client_id', 'client_secret'],
};

/** The fields of one portal, by name. */
export const fieldsOf = (portal: LinkedPortal): RulesByField => PORTAL_FIELDS[portal];

const PURPOSE = 'portals/settings';

/** The settings including secrets, for requests to the platform. */
export async function settingsFor(app: App, gameId: number, portal: LinkedPortal): Promise<PortalSettings | undefined> {
  const row = await store.settingsOf(app.db.query, gameId, portal);
  return row && valuesOf(app, row);
}

/** A secret is encrypted for its row, so that it cannot be used in another one. */
const purposeOf = ({ game_id, portal }: Pick<store.SettingsRow, 'game_id' | 'portal'>) =>
  `${PURPOSE}/${game_id}/${portal}`;

const valuesOf = (app: App, row: store.SettingsRow): Values => ({
  ...JSON.parse(row.fields),
  ...JSON.parse(app.secrets.unseal(purposeOf(row), row.secrets)),
});

export interface ShownSettings {
  readonly portal: string;
  readonly fields: Values;
  /** The names of the secrets that are set. */
  readonly secrets: readonly string[];
  readonly dateUpdated: number;
}

const shown = (app: App, row: store.SettingsRow): ShownSettings => ({
  portal: row.portal,
  fields: JSON.parse(row.fields),
  secrets: Object.keys(JSON.parse(app.secrets.unseal(purposeOf(row), row.secrets))),
  dateUpdated: row.date_updated,
});

/** The settings of all portals of a game, including secrets. */
export async function everySettingsFor(app: App, gameId: number): Promise<[LinkedPortal, PortalSettings][]> {
  const rows = await store.allSettingsOf(app.db.query, gameId);
  return rows.map((row) => [row.portal as LinkedPortal, valuesOf(app, row)]);
}

export async function listSettings(app: App, caller: Caller, gameId: number): Promise<ShownSettings[]> {
  await requireGameAdministrator(app.db, caller, gameId);
  return (await store.allSettingsOf(app.db.query, gameId)).map((row) => shown(app, row));
}

export const changeSettings = (
  app: App,
  caller: UserCaller,
  gameId: number,
  portal: LinkedPortal,
  changes: PortalSettings,
): Promise<ShownSettings> =>
  app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    return putAudited(app, transaction, caller, gameId, portal, changes);
  });

/** The caller has checked the permission. The audit log records only that secrets were set. */
export async function putAudited(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  gameId: number,
  portal: LinkedPortal,
  changes: PortalSettings,
): Promise<ShownSettings> {
  const put = await putSettings(app, transaction, gameId, portal, changes);
  const data = { portal, fields: Object.keys(changes) };
  await auditGame(app, transaction, caller, gameId, { action: 'portals-set', data });
  return put;
}

/** Omitted fields stay; empty ones are removed. */
export async function putSettings(
  app: App,
  { query }: Transaction,
  gameId: number,
  portal: LinkedPortal,
  changes: PortalSettings,
): Promise<ShownSettings> {
  const before = await store.settingsOf(query, gameId, portal);
  const settings = mergeValues(before && valuesOf(app, before), changes);
  refuseInvalidFields(fieldsOf(portal), settings, alsoNeeded(portal, settings));
  const { fields, secrets } = splitSecrets(fieldsOf(portal), settings);
  const row = {
    game_id: gameId,
    portal,
    fields: JSON.stringify(fields),
    secrets: app.secrets.seal(purposeOf({ game_id: gameId, portal }), JSON.stringify(secrets)),
    date_updated: app.clock.now(),
  };
  await store.putSettings(query, row);
  return shown(app, row);
}

function alsoNeeded(portal: LinkedPortal, settings: Values): readonly string[] {
  const together = neededTogether(TOGETHER[portal], settings);
  if (together.length > 0) return together;
  // A studio can sign players in within the game, on the web, or both.
  return portal === 'sso' ? ['jwks_url'] : [];
}

export const removeSettings = (app: App, caller: UserCaller, gameId: number, portal: LinkedPortal): Promise<void> =>
  app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    if (!(await store.removeSettings(transaction.query, gameId, portal))) throw new ApiError('RESOURCE_NOT_FOUND');
    await auditGame(app, transaction, caller, gameId, { action: 'portals-remove', data: { portal } });
  });
