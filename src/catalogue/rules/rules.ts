import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { JsonValue } from '../../platform/jobs/jobs.ts';
import { auditGame } from '../../records/audit/audit.ts';
import { recordStudioEvent } from '../../records/webhooks/outbox.ts';
import { lockGame, requireGame } from '../games/games.ts';
import { MANAGER, MODERATOR, teamLevel } from '../teams/teams.ts';
import { type Condition, expressionsIn, type Facts, parseCondition } from './conditions.ts';
import { type ActiveRule, RuleSet, type RuleVersion, rulesScope, toActiveRule, verdictOf } from './evaluation.ts';
import * as store from './store.ts';

export type { DecisionRow, RuleRow, VersionRow } from './store.ts';

type Reader = Pick<Database, 'first'>;

export const VERDICTS = ['allow', 'deny', 'report', 'hold', 'webhook'] as const;
type RuleVerdict = (typeof VERDICTS)[number];

/** Operations whose submissions can wait for the game's team: mods and guides have a status. */
const HOLDABLE = [
  'add-mod',
  'edit-mod',
  'edit-mod-put',
  'add-modfile',
  'edit-modfile',
  'add-source-modfile',
  'add-mod-media',
  'add-mod-tags',
  'add-mod-kvp-metadata',
  'add-mod-dependencies',
  'add-guide',
  'edit-guide',
];
/** Comments have no status in which they could wait. */
const NOT_HOLDABLE = [
  'add-mod-comment',
  'update-mod-comment',
  'add-guide-comment',
  'update-guide-comment',
  'add-collection-comment',
  'update-collection-comment',
];
/** The ids of the operations that evaluate rules. */
export const RULED_OPERATIONS: readonly string[] = [...HOLDABLE, ...NOT_HOLDABLE];

const RULES_MAX = 200;
/** Of all rules of a game together, because each submission is matched against all of them. */
const EXPRESSIONS_MAX = 1_000;

export const decisionListing: Listing = {
  from: 'd',
  columns: {
    id: { kind: 'integer' },
    user_id: { kind: 'integer' },
    rule_id: { kind: 'integer' },
    rule_version: { kind: 'integer' },
    date_added: { kind: 'integer' },
    verdict: { kind: 'text' },
    operation: { kind: 'text' },
  },
  sorts: { id: 'd.id', date_added: 'd.date_added' },
};

export interface SentRule {
  readonly name: string;
  readonly operations: readonly string[];
  /** JSON. */
  readonly when: string;
  readonly verdict: RuleVerdict;
  readonly message: string;
  readonly enabled: boolean;
}

async function requireLevel(reader: Reader, caller: Caller, gameId: number, level: number): Promise<void> {
  await requireGame(reader, caller, gameId);
  if ((await teamLevel(reader, caller, 'games', gameId)) < level) throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
}

/** Changes of a game's rules run one after the other, because their positions and limits depend on each other. */
async function changing<T>(
  app: App,
  caller: Caller,
  gameId: number,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return app.db.write(async (transaction) => {
    await requireLevel(transaction, caller, gameId, MANAGER);
    await lockGame(transaction, gameId);
    transaction.changed(rulesScope(gameId));
    return work(transaction);
  });
}

export async function listRules(app: App, caller: Caller, gameId: number): Promise<store.RuleRow[]> {
  await requireLevel(app.db, caller, gameId, MODERATOR);
  return store.rulesOf(app.db.query, gameId);
}

async function ruleIn({ query }: Pick<Transaction, 'query'>, gameId: number, id: number): Promise<store.RuleRow> {
  const rule = await store.rule(query, gameId, id);
  if (!rule) throw new ApiError('RESOURCE_NOT_FOUND');
  return rule;
}

export async function showRule(app: App, caller: Caller, gameId: number, id: number): Promise<store.RuleRow> {
  await requireLevel(app.db, caller, gameId, MODERATOR);
  return ruleIn(app.db, gameId, id);
}

export async function listVersions(app: App, caller: Caller, gameId: number, id: number): Promise<store.VersionRow[]> {
  await requireLevel(app.db, caller, gameId, MODERATOR);
  const versions = await store.versionsOf(app.db.query, gameId, id);
  if (versions.length === 0) throw new ApiError('RESOURCE_NOT_FOUND');
  return versions;
}

/** Validates a sent rule and returns its columns. */
function contentOf({ name, operations, when, verdict, message }: SentRule) {
  const condition = parseCondition(when);
  const offered = verdict === 'hold' ? HOLDABLE : RULED_OPERATIONS;
  if (!operations.every((operation) => offered.includes(operation)))
    throw new ApiError('VALIDATION_GENERIC', {
      fields: [{ field: 'operations', rule: 'enum', values: { values: offered.join(', ') } }],
    });
  const about = operations.length > 0 ? [...new Set(operations)] : offered;
  return { name, operations: JSON.stringify(about), condition: JSON.stringify(condition), verdict, message };
}

function requireFewExpressions(others: readonly store.RuleRow[], content: { readonly condition: string }): void {
  const conditions = [...others, content].map(({ condition }) => JSON.parse(condition) as Condition);
  if (conditions.reduce((sum, condition) => sum + expressionsIn(condition), 0) > EXPRESSIONS_MAX)
    throw new ApiError('VALIDATION_GENERIC', {
      fields: [{ field: 'when', rule: 'array_max', values: { max: EXPRESSIONS_MAX } }],
    });
}

export async function addRule(app: App, caller: UserCaller, gameId: number, sent: SentRule): Promise<store.RuleRow> {
  const content = contentOf(sent);
  return changing(app, caller, gameId, async (transaction) => {
    const { query } = transaction;
    const present = await store.rulesOf(query, gameId);
    if (present.length >= RULES_MAX)
      throw new ApiError('VALIDATION_GENERIC', {
        fields: [{ field: 'rules', rule: 'array_max', values: { max: RULES_MAX } }],
      });
    requireFewExpressions(present, content);
    const now = app.clock.now();
    const position = (present.at(-1)?.position ?? 0) + 1;
    const dates = { date_added: now, date_updated: now };
    const { id } = await store.add(query, {
      game_id: gameId,
      position,
      enabled: Number(sent.enabled),
      version: 1,
      ...dates,
    });
    transaction.made?.(id);
    const version = { rule_id: id, game_id: gameId, version: 1, edited_by: caller.userId, date_added: now };
    await store.addVersion(query, { ...content, ...version });
    await auditGame(app, transaction, caller, gameId, { action: 'rules-add', data: { rule: id } });
    return ruleIn(transaction, gameId, id);
  });
}

/** Rules are immutable: an edit adds a version. Enabling or disabling one does not. */
export async function editRule(
  app: App,
  caller: UserCaller,
  gameId: number,
  id: number,
  { enabled, ...sent }: { readonly [F in keyof SentRule]?: SentRule[F] | undefined },
): Promise<store.RuleRow> {
  return changing(app, caller, gameId, async (transaction) => {
    const { query } = transaction;
    const before = await ruleIn(transaction, gameId, id);
    const content = contentOf({
      name: sent.name ?? before.name,
      operations: sent.operations ?? JSON.parse(before.operations),
      when: sent.when ?? before.condition,
      verdict: sent.verdict ?? (before.verdict as RuleVerdict),
      message: sent.message ?? before.message,
      enabled: true,
    });
    const others = (await store.rulesOf(query, gameId)).filter((rule) => rule.id !== id);
    requireFewExpressions(others, content);
    const isSame = Object.entries(content).every(([field, value]) => before[field as keyof typeof content] === value);
    const version = before.version + Number(!isSame);
    const now = app.clock.now();
    if (!isSame) {
      const of = { rule_id: id, game_id: gameId, version, edited_by: caller.userId, date_added: now };
      await store.addVersion(query, { ...content, ...of });
    }
    await store.change(query, id, {
      version,
      enabled: enabled === undefined ? before.enabled : Number(enabled),
      date_updated: now,
    });
    const data = { rule: id, version: [before.version, version], enabled };
    await auditGame(app, transaction, caller, gameId, { action: 'rules-edit', data });
    return ruleIn(transaction, gameId, id);
  });
}

/** Its versions stay for the decisions that refer to them. */
export const deleteRule = (app: App, caller: UserCaller, gameId: number, id: number): Promise<void> =>
  changing(app, caller, gameId, async (transaction) => {
    await ruleIn(transaction, gameId, id);
    await store.remove(transaction.query, id);
    await auditGame(app, transaction, caller, gameId, { action: 'rules-remove', data: { rule: id } });
  });

/** Sets the order of evaluation. The list must contain every rule exactly once. */
export const reorderRules = (
  app: App,
  caller: UserCaller,
  gameId: number,
  ids: readonly number[],
): Promise<store.RuleRow[]> =>
  changing(app, caller, gameId, async (transaction) => {
    const { query } = transaction;
    const present = new Set((await store.rulesOf(query, gameId)).map(({ id }) => id));
    const named = new Set(ids);
    if (ids.length !== named.size || named.symmetricDifference(present).size > 0)
      throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'rule_ids', rule: 'once' }] });
    for (const [index, id] of ids.entries()) await store.change(query, id, { position: index + 1 });
    await auditGame(app, transaction, caller, gameId, { action: 'rules-reorder', data: { rules: ids } });
    return store.rulesOf(query, gameId);
  });

export async function listDecisions(app: App, caller: Caller, gameId: number, request: ListRequest) {
  await requireLevel(app.db, caller, gameId, MODERATOR);
  const newestFirst = { sql: 'd.id', descending: true };
  return store.listDecisions(app.db.query, gameId, decisionListing, { ...request, sort: request.sort ?? newestFirst });
}

const TRIED_MAX = 1_000;
/** Expensive expressions are tried on fewer submissions. */
const TRIAL_MS_MAX = 2_000;

/** Lists the past submissions that a rule would match, without acting on them. */
export async function tryRule(
  app: App,
  caller: Caller,
  gameId: number,
  sent: SentRule,
): Promise<{ tried: number; met: store.DecisionRow[] }> {
  await requireLevel(app.db, caller, gameId, MANAGER);
  const rules = new RuleSet([toActiveRule({ ...contentOf(sent), version: 0 }, 0)]);
  const past = await store.newestDecisions(app.db.query, gameId, TRIED_MAX);
  const met: store.DecisionRow[] = [];
  const endMs = app.clock.monotonicMs() + TRIAL_MS_MAX;
  let tried = 0;
  for (const row of past) {
    if (tried > 0 && app.clock.monotonicMs() > endMs) break;
    tried += 1;
    const facts = factsIn(row);
    if (verdictOf(rules.evaluate(facts, await rules.matchesOf(facts))) !== 'none') met.push(row);
    // Rules without expressions yield as well.
    if (tried % 20 === 0) await nextIteration();
  }
  return { tried, met };
}

const factsIn = ({ facts }: store.DecisionRow) => JSON.parse(facts) as Facts;

export interface Replay {
  readonly decision: store.DecisionRow;
  /** The verdict of the same rule versions for the same facts. */
  readonly verdict: string;
}

/** Evaluates the rule versions that matched again. */
export async function replayDecision(app: App, caller: Caller, gameId: number, id: number): Promise<Replay> {
  await requireLevel(app.db, caller, gameId, MODERATOR);
  const decision = await store.decision(app.db.query, gameId, id);
  if (!decision) throw new ApiError('RESOURCE_NOT_FOUND');
  const matched: RuleVersion[] = [...JSON.parse(decision.reports), ...JSON.parse(decision.webhooks)];
  if (decision.rule_id !== 0) matched.push({ rule_id: decision.rule_id, version: decision.rule_version });
  const rules: ActiveRule[] = [];
  for (const { rule_id, version } of matched)
    rules.push(toActiveRule((await store.version(app.db.query, gameId, rule_id, version))!, rule_id));
  const facts = factsIn(decision);
  const set = new RuleSet(rules);
  return { decision, verdict: verdictOf(set.evaluate(facts, await set.matchesOf(facts))) };
}

const REPORTED_AT_ONCE = 50;

/** Records studio events for decisions of rules with the verdict `webhook`, in order of submission and each once. */
export async function reportDecisionsToStudio(app: App, gameId: number, heartbeat: () => Promise<void>): Promise<void> {
  const step = () =>
    app.db.write(async (transaction) => {
      const waiting = await store.awaitingStudio(transaction, gameId, REPORTED_AT_ONCE);
      for (const decision of waiting)
        if (await store.markReported(transaction, decision.id)) await recordDecision(app, transaction, decision);
      return waiting.length;
    });
  while ((await step()) === REPORTED_AT_ONCE) await heartbeat();
}

async function recordDecision(app: App, transaction: Transaction, decision: store.DecisionRow): Promise<void> {
  const { game_id: gameId, resource, resource_id, user_id, operation, verdict } = decision;
  for (const { rule_id, version } of JSON.parse(decision.webhooks) as RuleVersion[]) {
    const rule = (await store.version(transaction.query, gameId, rule_id, version))!;
    const named = { rule_id, rule_version: version, rule_name: rule.name, decision_id: decision.id };
    const submission = { operation, user_id, payload: payloadIn(decision.facts) as Record<string, JsonValue> };
    await recordStudioEvent(app, transaction, {
      gameId,
      kind: 'RULE_MATCHED',
      subject: resource === '' ? `rules/${rule_id}` : `${resource}/${resource_id}`,
      data: { ...named, verdict, resource, resource_id, ...submission },
    });
  }
}

/** The submitted fields, without facts about the user, such as their IP address. */
export function payloadIn(facts: string): Record<string, unknown> {
  const entries = Object.entries(JSON.parse(facts) as Record<string, unknown>);
  return Object.fromEntries(entries.filter(([name]) => name.startsWith('payload.') || name.startsWith('file.')));
}

const RETENTION_SECONDS = 30 * 86_400;
const REMOVED_AT_ONCE = 500;

export async function removeOldDecisions(app: App, heartbeat: () => Promise<void>): Promise<void> {
  const before = app.clock.now() - RETENTION_SECONDS;
  const step = () => app.db.write((transaction) => store.removeOldDecisions(transaction, before, REMOVED_AT_ONCE));
  while ((await step()) === REMOVED_AT_ONCE) await heartbeat();
}
