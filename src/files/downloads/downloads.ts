import { isValidLink, needsSignature } from '../../catalogue/live-files/links.ts';
import { isPurchased, type Levels, levelsOf, requireMod, requireModByLink } from '../../catalogue/mods/access.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { isScanPassed } from '../../platform/scanning/states.ts';
import { requireOpenVault } from '../vaults/vaults.ts';
import * as store from './store.ts';

/** Bits of a game’s `api_access_options`. `needsSignature` checks the one for direct downloads. */
const SIGNED_IN_ONLY = 4;
const OWNERS_ONLY = 8;
/** A game's `maturity_options`. */
const ADULTS_ONLY = 2;

export interface WantedFile {
  readonly gameId: number;
  readonly modId: number;
  readonly fileId: number;
  readonly platform: string;
  /** From a download link, in its path or in its query. */
  readonly signature: string | undefined;
}

export type Download = Pick<
  store.FileRow,
  'mod_id' | 'game_id' | 'storage_key' | 'filesize' | 'sha256' | 'filename' | 'date_added'
>;

/**
 * The file, if the caller may download it now. A signature or a credential suffices: clients send expired tokens along
 * with good links, and good tokens with expired links. Neither opens a file that was withdrawn or hidden since.
 */
export async function requireDownload(app: App, caller: Caller, wanted: WantedFile): Promise<Download> {
  const file = await store.fileOf(app.db, wanted.fileId, wanted.platform);
  const { signature } = wanted;
  const isInvited = file !== undefined && signature !== undefined && isValidLink(app, file, signature, app.clock.now());
  if (!isInvited) refuseUnknown(caller, signature, file);
  // A link alone opens its file, whatever everyone may read without one.
  const asking: Caller = isInvited && caller.kind === 'nobody' ? { ...caller, anonymous: undefined } : caller;
  const mod = await (isInvited ? requireModByLink : requireMod)(app.db, asking, wanted.gameId, wanted.modId);
  if (file?.mod_id !== mod.id || !isScanPassed(file, app.settings)) throw new ApiError('MODFILE_NOT_FOUND');
  const levels = await levelsOf(app.db, caller, mod);
  if (file.offered === 0 && !isMember(levels)) throw new ApiError('MODFILE_NOT_FOUND');
  if (!isInvited && needsSignature(file.api_access_options)) throw new ApiError('MOD_NO_VIEW_PERMISSION');
  await refuseStrangers(app, caller, file, levels);
  if (!isMember(levels)) requireOpenVault(file, app.clock.now());
  if (isForAdults(file) && !isMember(levels)) await refuseMinors(app, caller);
  return file;
}

/** Without a valid link the client needs valid credentials. */
function refuseUnknown(caller: Caller, signature: string | undefined, file: store.FileRow | undefined): void {
  if (caller.kind !== 'nobody' || caller.anonymous) return;
  const refusal = caller.refusal ?? new ApiError('API_KEY_MISSING');
  if (signature === undefined || refusal.error !== 'API_KEY_MISSING') throw refusal;
  // Only an existing file can prove its signature wrong; a deleted one gets 404 later.
  if (file) throw new ApiError('MOD_NO_VIEW_PERMISSION');
}

const isForAdults = ({ maturity_option, maturity_options }: store.FileRow) =>
  maturity_option !== 0 || maturity_options === ADULTS_ONLY;

/** Users choose whether to see mature content. A key belongs to the game, which knows its player. */
async function refuseMinors(app: App, caller: Caller): Promise<void> {
  if (caller.kind === 'user' && !(await store.wantsMatureContent(app.db, caller.userId)))
    throw new ApiError('MATURE_CONTENT_RESTRICTED');
}

const isMember = ({ mod, game }: Levels) => mod > 0 || game > 0;

/** Clients sign their user in again when this error says that the token has expired. */
const staleToken = (caller: Caller) =>
  caller.kind === 'nobody' && caller.refusal?.error === 'TOKEN_EXPIRED_OR_REVOKED' ? caller.refusal : undefined;

/** A mod with a price is for those who bought it. Where mods have to be owned, every user owns those without a price. */
async function refuseStrangers(app: App, caller: Caller, file: store.FileRow, levels: Levels): Promise<void> {
  const options = file.api_access_options;
  // The game's administrators decide what its servers read.
  if (caller.kind === 'key' && caller.server) return;
  if ((file.price > 0 || options & (SIGNED_IN_ONLY | OWNERS_ONLY)) && caller.kind !== 'user')
    throw staleToken(caller) ?? new ApiError('USER_MUST_BE_LOGGED_IN');
  if (file.price === 0 || isMember(levels)) return;
  if (caller.kind !== 'user' || !(await isPurchased(app.db, file.mod_id, caller.userId)))
    throw new ApiError('MONETIZATION_MARKETPLACE_MOD_NOT_OWNED', { fields: [{ field: 'mod_id', rule: 'not_owned' }] });
}
