import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Caller, Submission, UserCaller } from '../../access/caller.ts';
import type { App } from '../../context.ts';
import type { Database, Transaction } from '../../database/database.ts';
import { ApiError } from '../../errors/catalogue.ts';
import { MODERATOR, teamLevel } from '../teams/teams.ts';
import { requireCleanTexts } from '../wordlists/wordlists.ts';
import { Answering, type Condition, type Fact, type Facts } from './conditions.ts';
import * as store from './store.ts';

export const rulesScope = (gameId: number) => `games/${gameId}/rules`;

/** A rule in a certain version. */
export interface Said {
  readonly rule_id: number;
  readonly version: number;
}

/** A rule as it is asked. */
export interface Asked extends Said {
  readonly operations: readonly string[];
  readonly condition: Condition;
  readonly verdict: string;
  readonly message: string;
}

/** What rules say to a submission. The first that allows, denies or holds decides; those before it may have reported. */
export interface Finding {
  readonly decided: Asked | undefined;
  readonly reports: readonly Said[];
}

export class RuleSet {
  readonly #rules: readonly Asked[];
  readonly #answering: Answering;

  constructor(rules: readonly Asked[]) {
    this.#rules = rules;
    this.#answering = new Answering(rules.map(({ condition }) => condition));
  }

  judge(facts: Facts): Finding {
    const holds = this.#answering.about(facts);
    const operation = String(facts['operation']);
    const reports: Said[] = [];
    for (const rule of this.#rules) {
      if (!rule.operations.includes(operation) || !holds(rule.condition)) continue;
      if (rule.verdict !== 'report') return { decided: rule, reports };
      reports.push({ rule_id: rule.rule_id, version: rule.version });
    }
    return { decided: undefined, reports };
  }
}

export const toAsked = (
  row: Pick<store.RuleRow, 'version' | 'operations' | 'condition' | 'verdict' | 'message'>,
  id: number,
) => ({
  rule_id: id,
  version: row.version,
  operations: JSON.parse(row.operations) as string[],
  condition: JSON.parse(row.condition) as Condition,
  verdict: row.verdict,
  message: row.message,
});

interface Known {
  readonly asOf: number;
  readonly rules: RuleSet;
}

const GAMES_KNOWN_MAX = 500;
const known = new WeakMap<Database, LRUCache<number, Known>>();

/** The rules of a game that are switched on, compiled once until they change. */
async function rulesFor({ db }: App, { query }: Pick<Transaction, 'query'>, gameId: number): Promise<RuleSet> {
  const ofDatabase = known.get(db) ?? new LRUCache<number, Known>({ max: GAMES_KNOWN_MAX });
  known.set(db, ofDatabase);
  const there = ofDatabase.get(gameId);
  if (there && db.changes.unchangedSince(there.asOf, rulesScope(gameId))) return there.rules;
  const asOf = db.changes.now();
  const rows = (await store.rulesOf(query, gameId)).filter(({ enabled }) => enabled === 1);
  const rules = new RuleSet(rows.map((row) => toAsked(row, row.id)));
  ofDatabase.set(gameId, { asOf, rules });
  return rules;
}

const HISTORY_SECONDS = 86_400;
const DAY = 86_400;
const TEXT_CHARACTERS_MAX = 150_000;
const NAMES_MAX = 2_000;

async function factsOf(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  gameId: number,
  submission: Submission,
): Promise<{ facts: Facts; digest: string; level: number }> {
  const payload = payloadOf(submission);
  const digest = createHash('sha256').update(JSON.stringify(payload)).digest('base64url');
  const now = app.clock.now();
  const person = await store.personOf(transaction, caller.userId);
  const since = now - HISTORY_SECONDS;
  const history = await store.historyOf(transaction, { gameId, userId: caller.userId, digest, since });
  const level = await teamLevel(transaction, caller, 'games', gameId);
  const facts: Record<string, Fact> = {
    operation: submission.operation,
    ...payload,
    ...named('header', submission.headers),
    'user.id': caller.userId,
    'user.username': person?.username ?? '',
    'user.email_domain': person?.email?.split('@').at(-1) ?? '',
    'user.language': person?.language ?? '',
    'user.age_days': person ? Math.floor((now - person.date_joined) / DAY) : 0,
    'user.level': level,
    'user.ip': submission.ip,
    ...named('history', history),
  };
  return { facts, digest, level };
}

const named = (prefix: string, values: Readonly<Record<string, Fact>>): Record<string, Fact> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}.${name}`, value]));

function payloadOf({ fields, files, contents }: Submission): Record<string, Fact> {
  const facts: Record<string, Fact> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') facts[`payload.${name}`] = value.slice(0, TEXT_CHARACTERS_MAX);
    else if (typeof value === 'number') facts[`payload.${name}`] = value;
    else if (typeof value === 'boolean') facts[`payload.${name}`] = Number(value);
    else if (Array.isArray(value)) facts[`payload.${name}`] = value.slice(0, NAMES_MAX).map(String);
  }
  if (files.length > 0) {
    facts['file.name'] = files.map(({ filename }) => filename);
    facts['file.size'] = files.reduce((sum, { bytes }) => sum + bytes, 0);
  }
  if (contents) facts['file.entries'] = contents.slice(0, NAMES_MAX);
  return facts;
}

export interface Verdict {
  /** The rule that wants the game's team to look first. */
  readonly held: Said | undefined;
}

/**
 * Holds what someone hands in against the words and the rules of the game. Called by a noun once it knows that the
 * caller may do it, within the transaction that does it: what is refused is not done.
 */
export async function ruled(app: App, transaction: Transaction, caller: Caller, gameId: number): Promise<Verdict> {
  if (caller.kind !== 'user' || !caller.submission) return { held: undefined };
  const { submission } = caller;
  await requireCleanTexts(transaction, gameId, submission.fields);
  const rules = await rulesFor(app, transaction, gameId);
  const { facts, digest, level } = await factsOf(app, transaction, caller, gameId, submission);
  const { decided, reports } = rules.judge(facts);
  const decision: store.NewDecision = {
    game_id: gameId,
    user_id: caller.userId,
    operation: submission.operation,
    verdict: decided?.verdict ?? (reports.length > 0 ? 'report' : 'none'),
    rule_id: decided?.rule_id ?? 0,
    rule_version: decided?.version ?? 0,
    reports: JSON.stringify(reports),
    facts: JSON.stringify(facts),
    digest,
    date_added: app.clock.now(),
  };
  if (decided?.verdict === 'deny') {
    // The transaction ends without a trace, so the decision is stored behind it.
    submission.refusal = () => storeDecision(app, decision);
    throw new ApiError('RULES_BASED_MODERATION_FAILURE', decided.message === '' ? {} : { text: decided.message });
  }
  await store.addDecision(transaction.query, decision);
  // Those who would have to look have seen it already.
  return { held: decided?.verdict === 'hold' && level < MODERATOR ? decided : undefined };
}

const storeDecision = (app: App, decision: store.NewDecision): Promise<void> =>
  app.db.write(async ({ query }) => void (await store.addDecision(query, decision)));

/** Whether something waits for the game's team because a rule said so. */
export const isHeld = async (reader: Pick<Database, 'first'>, resource: string, id: number): Promise<boolean> =>
  (await store.holdOf(reader, resource, id)) !== undefined;

export const noteHold = (
  app: App,
  { query }: Transaction,
  resource: string,
  { id, game_id }: { readonly id: number; readonly game_id: number },
  { rule_id, version }: Said,
) =>
  store.putHold(query, {
    resource,
    resource_id: id,
    game_id,
    rule_id,
    rule_version: version,
    date_added: app.clock.now(),
  });

/** The game's team has looked. */
export const releaseHold = ({ query }: Transaction, resource: string, id: number) =>
  store.removeHold(query, resource, id);
