import { type Database, statement } from '../database/database.ts';

/**
 * A token is valid only if its row, its user, its grant and its client are all active, which is checked when it is
 * used. A token that was issued during a revocation is therefore invalid, whichever transaction committed first.
 */
const ENDED = `case when t.date_revoked is not null or u.date_locked is not null or t.epoch <> coalesce(e.epoch, 0)
    or (t.grant_id is not null and (g.id is null or g.date_revoked is not null))
    or (t.client_id is not null and (c.id is null or c.date_revoked is not null
      or c.epoch <> coalesce(t.client_epoch, c.epoch)))
  then 1 else 0 end as ended`;

const TOKENS = `access_tokens t join users u on u.id = t.user_id left join access_epochs e on e.user_id = t.user_id
  left join oauth_grants g on g.id = t.grant_id left join oauth_clients c on c.id = t.client_id`;

const mutesOf = (user: string) => `case when exists (select 1 from mutes x where x.user_id = ${user})
    or exists (select 1 from blocks b where b.user_id = ${user}) then 1 else 0 end as mutes`;

const TOKEN =
  statement(`select t.id, t.user_id, t.game_id, t.client_id, t.scopes, t.date_expires, ${ENDED}, t.epoch, t.all_games,
  t.content_only, u.status, u.merged_into, s.level as staff, u.language, u.date_online,
  (select count(*) from team_members m where m.user_id = t.user_id)
    + (select count(*) from previewers p where p.user_id = t.user_id) as teams,
  ${mutesOf('t.user_id')}
  from ${TOKENS} left join site_staff s on s.user_id = u.id where t.digest = ?`);
const MUTES = statement(`select ${mutesOf('u.id')} from users u where u.id = ?`);
/** What a user may see and do beyond others, whichever credential they use. */
const STANDING = statement(`select s.level as staff, u.date_online,
  (select count(*) from team_members m where m.user_id = u.id)
    + (select count(*) from previewers p where p.user_id = u.id) as teams,
  ${mutesOf('u.id')}
  from users u left join site_staff s on s.user_id = u.id where u.id = ?`);
const OWN_PART = `select t.id, t.user_id, t.client_id, t.scopes, t.date_expires, ${ENDED}, t.epoch, t.content_only from ${TOKENS}`;
const BY_DIGEST = statement(`${OWN_PART} where t.digest = ?`);
const BY_ID = statement(`${OWN_PART} where t.id = ?`);

/** The same for a game's backend: its token ends with the client and with the secret that it was issued for. */
const SERVICE_TOKEN =
  statement(`select t.id, t.client_id, t.game_id, t.scopes, t.date_expires, g.submitted_by as leader_id,
  case when t.date_revoked is not null or c.date_revoked is not null or c.epoch <> t.client_epoch
    then 1 else 0 end as ended
  from service_tokens t join games g on g.id = t.game_id join oauth_clients c on c.id = t.client_id where t.digest = ?`);

/** A server token ends with its game. A collection or mod that is gone leaves it less to read. */
const SERVER_TOKEN = statement(`select t.id, t.game_id, t.scope, t.collection_id, t.requests_per_minute, t.date_expires,
  case when t.date_revoked is not null or g.status = 3 then 1 else 0 end as ended
  from server_tokens t join games g on g.id = t.game_id where t.digest = ?`);

/** No row means no. */
const ANONYMOUS = statement('select anonymous_access from game_server_settings where game_id = ?');

interface Ending {
  readonly date_expires: number;
  readonly ended: number;
}

export interface TokenRow extends Ending {
  readonly id: number;
  readonly user_id: number;
  readonly game_id: number | null;
  readonly client_id: number | null;
  readonly scopes: string;
  readonly epoch: number;
  readonly all_games: number;
  readonly content_only: number;
  readonly status: number;
  readonly merged_into: number | null;
  readonly staff: number | null;
  readonly language: string;
  readonly date_online: number;
  readonly teams: number;
  readonly mutes: number;
}

export interface ServiceTokenRow extends Ending {
  readonly id: number;
  readonly client_id: number;
  readonly game_id: number;
  readonly scopes: string;
  readonly leader_id: number;
}

export interface ServerTokenRow extends Ending {
  readonly id: number;
  readonly game_id: number;
  readonly scope: 'game' | 'mods' | 'collection';
  readonly collection_id: number | null;
  readonly requests_per_minute: number | null;
}

/** The columns of a valid token that another credential may be exchanged for. */
export type GoodToken = Ending & Pick<TokenRow, 'id' | 'user_id' | 'client_id' | 'scopes' | 'epoch' | 'content_only'>;

type Reader = Pick<Database, 'first'>;

export const isOver = ({ ended, date_expires }: Ending, now: number): boolean => ended === 1 || date_expires <= now;

export const tokenWith = (reader: Reader, digest: string) => reader.first<TokenRow>(TOKEN, [digest]);

export const serviceTokenWith = (reader: Reader, digest: string) =>
  reader.first<ServiceTokenRow>(SERVICE_TOKEN, [digest]);

export const serverTokenWith = (reader: Reader, digest: string) => reader.first<ServerTokenRow>(SERVER_TOKEN, [digest]);

/** Whether everyone may read the free content of a game, without credentials. */
export const isOpenToEveryone = async (reader: Reader, gameId: number): Promise<boolean> =>
  (await reader.first<{ anonymous_access: number }>(ANONYMOUS, [gameId]))?.anonymous_access === 1;

export const standingOf = (reader: Reader, userId: number) =>
  reader.first<Pick<TokenRow, 'staff' | 'date_online' | 'teams' | 'mutes'>>(STANDING, [userId]);

export const hasMutes = async (reader: Reader, userId: number): Promise<boolean> =>
  (await reader.first<{ mutes: number }>(MUTES, [userId]))?.mutes === 1;

export async function findGoodToken(
  reader: Reader,
  which: { digest: string } | { id: number },
  now: number,
): Promise<GoodToken | undefined> {
  const row = await ('digest' in which
    ? reader.first<GoodToken>(BY_DIGEST, [which.digest])
    : reader.first<GoodToken>(BY_ID, [which.id]));
  return row && !isOver(row, now) ? row : undefined;
}
