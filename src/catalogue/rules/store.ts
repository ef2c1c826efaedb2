import type { Insertable, Selectable } from 'kysely';
import { type Database, insertRow, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import type { GameRulesTable, GameRuleVersionsTable, RuleDecisionsTable, RuleHoldsTable } from './table.ts';

export type VersionRow = Selectable<GameRuleVersionsTable>;
export type DecisionRow = Selectable<RuleDecisionsTable>;
export type NewDecision = Insertable<RuleDecisionsTable>;

type Reader = Pick<Database, 'first' | 'all'>;

const rules = (query: Query, gameId: number) =>
  query
    .selectFrom('game_rules as r')
    .innerJoin('game_rule_versions as v', (on) =>
      on.onRef('v.rule_id', '=', 'r.id').onRef('v.version', '=', 'r.version'),
    )
    .where('r.game_id', '=', gameId);

const shown = (query: Query, gameId: number) =>
  rules(query, gameId)
    .select(['r.id', 'r.game_id', 'r.position', 'r.enabled', 'r.version', 'r.date_added', 'r.date_updated'])
    .select(['v.name', 'v.operations', 'v.condition', 'v.verdict', 'v.message', 'v.edited_by']);

export type RuleRow = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>;

export const rulesOf = (query: Query, gameId: number): Promise<RuleRow[]> =>
  shown(query, gameId).orderBy('r.position').orderBy('r.id').execute();

export const rule = (query: Query, gameId: number, id: number) =>
  shown(query, gameId).where('r.id', '=', id).executeTakeFirst();

export const add = (query: Query, row: Insertable<GameRulesTable>) =>
  query.insertInto('game_rules').values(row).returning('id').executeTakeFirstOrThrow();

export const addVersion = (query: Query, row: Insertable<GameRuleVersionsTable>) =>
  query.insertInto('game_rule_versions').values(row).execute();

export const change = (query: Query, id: number, row: Partial<Omit<GameRulesTable, 'id'>>) =>
  query.updateTable('game_rules').set(row).where('id', '=', id).execute();

export const remove = (query: Query, id: number) => query.deleteFrom('game_rules').where('id', '=', id).execute();

export const versionsOf = (query: Query, gameId: number, ruleId: number): Promise<VersionRow[]> =>
  query
    .selectFrom('game_rule_versions')
    .selectAll()
    .where('game_id', '=', gameId)
    .where('rule_id', '=', ruleId)
    .orderBy('version', 'desc')
    .execute();

export const version = (query: Query, gameId: number, ruleId: number, number: number) =>
  query
    .selectFrom('game_rule_versions')
    .selectAll()
    .where('game_id', '=', gameId)
    .where('rule_id', '=', ruleId)
    .where('version', '=', number)
    .executeTakeFirst();

export const addDecision = (transaction: Transaction, row: NewDecision) =>
  insertRow(transaction, 'rule_decisions', row);

const SET_SUBJECT = statement('update rule_decisions set resource = ?, resource_id = ? where id = ?');
export const setSubject = (transaction: Transaction, id: number, resource: string, resourceId: number) =>
  transaction.run(SET_SUBJECT, [resource, resourceId, id]);

const AWAIT_STUDIO = statement(
  'select * from rule_decisions where game_id = ? and awaits_studio = 1 order by id limit ?',
);
/** Decisions not yet reported to the studio, in order. */
export const awaitingStudio = (transaction: Transaction, gameId: number, most: number) =>
  transaction.all<DecisionRow>(AWAIT_STUDIO, [gameId, most]);

const MARK_REPORTED = statement(
  'update rule_decisions set awaits_studio = 0 where id = ? and awaits_studio = 1 returning id',
);
/** Returns false if another worker has reported it. */
export const markReported = async (transaction: Transaction, id: number): Promise<boolean> =>
  (await transaction.first(MARK_REPORTED, [id])) !== undefined;

const decisions = (query: Query, gameId: number) =>
  query.selectFrom('rule_decisions as d').where('d.game_id', '=', gameId);

export async function listDecisions(query: Query, gameId: number, listing: Listing, request: ListRequest) {
  const { total } = await narrowed(decisions(query, gameId), listing, request)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await paged(
    narrowed(decisions(query, gameId).selectAll(), listing, request),
    listing,
    request,
  ).execute();
  return { rows, total: Number(total) };
}

export const newestDecisions = (query: Query, gameId: number, most: number): Promise<DecisionRow[]> =>
  decisions(query, gameId).selectAll().orderBy('d.id', 'desc').limit(most).execute();

export const decision = (query: Query, gameId: number, id: number) =>
  decisions(query, gameId).selectAll().where('d.id', '=', id).executeTakeFirst();

/** Counts stop here: no rule needs exact numbers beyond, and counting more would delay the submission. */
const COUNTED_MAX = 1_000;
const LAST_DECISIONS = `(select d.date_added, d.verdict, d.digest from rule_decisions d
  where d.game_id = w.game_id and d.user_id = w.user_id order by d.date_added desc limit ${COUNTED_MAX}) o`;
/** PostgreSQL keeps a plan only if it does not depend on the values. Planning takes twenty times as long as this statement. */
const WHOSE = 'with w as materialized (select cast(? as bigint) as game_id, cast(? as bigint) as user_id)';

const HISTORY = statement(`select count(*) as submissions,
  coalesce(sum(case when verdict = 'deny' then 1 else 0 end), 0) as denied,
  coalesce(sum(case when digest = ? then 1 else 0 end), 0) as same
  from (select verdict, digest from rule_decisions where game_id = ? and user_id = ? and date_added > ?
    order by date_added desc limit ${COUNTED_MAX}) o`);
export async function historyOf(reader: Reader, of: { gameId: number; userId: number; digest: string; since: number }) {
  const row = await reader.first<{ submissions: number; denied: number; same: number }>(HISTORY, [
    of.digest,
    of.gameId,
    of.userId,
    of.since,
  ]);
  return { submissions: Number(row!.submissions), denied: Number(row!.denied), same: Number(row!.same) };
}

export interface PersonFacts {
  readonly username: string;
  readonly email: string | null;
  readonly language: string;
  readonly country: string;
  readonly portal_names: string;
  readonly date_joined: number;
}
const PERSON = statement(
  'select username, email, language, country, portal_names, date_joined from users where id = ?',
);
export const personOf = (reader: Reader, userId: number) => reader.first<PersonFacts>(PERSON, [userId]);

const LOOKED_AT_MAX = 100;
const DENIALS = (resource: string, seen = '') => `(select count(*) from (select r.id from ${resource} r
  where r.game_id = w.game_id and r.status in (0, 1, 3)${seen} and r.submitted_by = w.user_id limit ${LOOKED_AT_MAX}) o
  join moderation_decisions d on d.resource = '${resource}' and d.resource_id = o.id and d.action = 'deny')`;
const STATISTICS = statement(`${WHOSE} select
  (select count(*) from (select 1 from mods m where m.game_id = w.game_id and m.status in (0, 1)
    and m.visible in (0, 1) and m.submitted_by = w.user_id limit ${COUNTED_MAX}) o) as mods,
  (select count(*) from reports r where r.author_id = w.user_id and r.game_id = w.game_id and r.rule_id = 0) as reports,
  (select count(*) from ${LAST_DECISIONS} where o.verdict = 'deny')
    + ${DENIALS('mods', ' and r.visible in (0, 1)')} + ${DENIALS('guides')} as denied
  from w`);
/** A user's mods, reports by other users and denied submissions in a game. */
export async function statisticsOf(reader: Reader, gameId: number, userId: number) {
  type Counted = { mods: number; reports: number; denied: number };
  const { mods, reports, denied } = (await reader.first<Counted>(STATISTICS, [gameId, userId]))!;
  return { mods: Number(mods), reports: Number(reports), denied: Number(denied) };
}

export const putHold = (query: Query, row: RuleHoldsTable) =>
  query
    .insertInto('rule_holds')
    .values(row)
    .onConflict((key) => key.columns(['resource', 'resource_id']).doUpdateSet(row))
    .execute();

const HELD = statement('select rule_id from rule_holds where resource = ? and resource_id = ?');
export const holdOf = (reader: Pick<Database, 'first'>, resource: string, id: number) =>
  reader.first<{ rule_id: number }>(HELD, [resource, id]);

export const removeHold = (query: Query, resource: string, id: number) =>
  query.deleteFrom('rule_holds').where('resource', '=', resource).where('resource_id', '=', id).execute();

const OLDEST = statement(`delete from rule_decisions where id in
  (select id from rule_decisions where date_added < ? order by date_added limit ?) returning id`);
export const removeOldDecisions = async (transaction: Transaction, before: number, most: number): Promise<number> =>
  (await transaction.all(OLDEST, [before, most])).length;
