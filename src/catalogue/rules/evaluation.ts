import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Caller, Submission, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Changes, Database, Transaction } from '../../platform/database/database.ts';
import { answersTo } from '../../platform/database/pipelining.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { MODERATOR, teamLevel } from '../teams/teams.ts';
import { prepareTexts, requireCleanTexts } from '../wordlists/wordlists.ts';
import { type Condition, ConditionEvaluator, type Fact, type Facts, type Matches } from './conditions.ts';
import { ruleExtensions, type Submitted } from './extensions.ts';
import * as store from './store.ts';

export const rulesScope = (gameId: number) => `games/${gameId}/rules`;

/** One version of a rule. */
export interface RuleVersion {
  readonly rule_id: number;
  readonly version: number;
}

/** An enabled rule, parsed for evaluation. */
export interface ActiveRule extends RuleVersion {
  readonly name: string;
  readonly operations: readonly string[];
  readonly condition: Condition;
  readonly verdict: string;
  readonly message: string;
}

/**
 * The matching rules of a submission. The first that allows, denies or holds decides; rules with `report` and `webhook`
 * before it apply as well.
 */
export interface Evaluation {
  readonly decided: ActiveRule | undefined;
  /** Rules that report the submission to the game's team. */
  readonly reports: readonly ActiveRule[];
  /** Rules that send the submission to the studio's webhooks. */
  readonly webhooks: readonly ActiveRule[];
}

/** The verdict of the whole evaluation. */
export const verdictOf = ({ decided, reports, webhooks }: Evaluation): string =>
  decided?.verdict ?? (reports.length > 0 ? 'report' : webhooks.length > 0 ? 'webhook' : 'none');

export class RuleSet {
  readonly #rules: readonly ActiveRule[];
  readonly #evaluator: ConditionEvaluator;

  constructor(rules: readonly ActiveRule[]) {
    this.#rules = rules;
    this.#evaluator = new ConditionEvaluator(rules.map(({ condition }) => condition));
  }

  evaluate(facts: Facts, matches?: Matches): Evaluation {
    const holds = this.#evaluator.about(facts, matches);
    const operation = String(facts['operation']);
    const noted: Record<string, ActiveRule[]> = { report: [], webhook: [] };
    let decided: ActiveRule | undefined;
    for (const rule of this.#rules) {
      if (!rule.operations.includes(operation) || !holds(rule.condition)) continue;
      if (!noted[rule.verdict]) {
        decided = rule;
        break;
      }
      noted[rule.verdict]!.push(rule);
    }
    return { decided, reports: noted['report']!, webhooks: noted['webhook']! };
  }

  /** Compiles ahead of the first submission, which would otherwise wait for all expressions at once. */
  prepare(): Promise<void> {
    return this.#evaluator.prepare();
  }

  /** Yields to the event loop between its steps, unlike `evaluate` without the result. */
  matchesOf(facts: Facts, known?: Matches): Promise<Matches> {
    return this.#evaluator.matchesOf(facts, known);
  }
}

export const toActiveRule = (
  row: Pick<store.RuleRow, 'version' | 'name' | 'operations' | 'condition' | 'verdict' | 'message'>,
  id: number,
) => ({
  rule_id: id,
  version: row.version,
  name: row.name,
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
const known = new WeakMap<Changes, LRUCache<number, Known>>();

/** The enabled rules of a game, compiled once until they change. */
async function rulesFor(
  { db }: Pick<App, 'db'>,
  { query }: Pick<Transaction, 'query'>,
  gameId: number,
): Promise<RuleSet> {
  const ofDatabase = known.get(db.changes) ?? new LRUCache<number, Known>({ max: GAMES_KNOWN_MAX });
  known.set(db.changes, ofDatabase);
  const there = ofDatabase.get(gameId);
  if (there && db.changes.unchangedSince(there.asOf, rulesScope(gameId))) return there.rules;
  const asOf = db.changes.now();
  const rows = (await store.rulesOf(query, gameId)).filter(({ enabled }) => enabled === 1);
  const rules = new RuleSet(rows.map((row) => toActiveRule(row, row.id)));
  ofDatabase.set(gameId, { asOf, rules });
  return rules;
}

interface Prepared {
  readonly rules: RuleSet;
  readonly matches: Matches;
}
const prepared = new WeakMap<Submission, Prepared>();

/**
 * Compiles a game's rules and matches their expressions with a submission before a transaction evaluates them, because
 * a transaction must not yield. Called again when more of the submission is known.
 */
export async function prepareRules(app: App, gameId: number, caller: Caller): Promise<void> {
  const rules = await rulesFor(app, app.db, gameId);
  await rules.prepare();
  const submission = caller.kind === 'user' ? caller.submission : undefined;
  if (!submission) return;
  await prepareTexts(app.db, gameId, submission.fields);
  const before = prepared.get(submission);
  const facts = { ...payloadOf(submission), ...named('header', submission.headers) };
  const matches = await rules.matchesOf(facts, before?.rules === rules ? before.matches : undefined);
  prepared.set(submission, { rules, matches });
}

/** Empty if the rules changed since they were prepared. */
function matchesFor(submission: Submission, rules: RuleSet): Matches | undefined {
  const found = prepared.get(submission);
  return found?.rules === rules ? found.matches : undefined;
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
  const { userId } = caller;
  const [person, history, statistics, level] = await answersTo([
    store.personOf(transaction, userId),
    store.historyOf(transaction, { gameId, userId, digest, since: now - HISTORY_SECONDS }),
    store.statisticsOf(transaction, gameId, userId),
    teamLevel(transaction, caller, 'games', gameId),
  ]);
  const country = submission.country ?? person?.country ?? '';
  const facts: Record<string, Fact> = {
    operation: submission.operation,
    ...payload,
    ...named('header', submission.headers),
    'user.id': userId,
    'user.username': person?.username ?? '',
    'user.email_domain': person?.email?.split('@').at(-1) ?? '',
    'user.language': person?.language ?? '',
    'user.age_days': person ? Math.floor((now - person.date_joined) / DAY) : 0,
    'user.level': level,
    'user.ip': submission.ip,
    'user.portals': Object.keys(JSON.parse(person?.portal_names || '{}')),
    ...(country !== '' && { 'user.country': country.toUpperCase() }),
    ...named('user', statistics),
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
  /** The rule that holds the submission for the game's team. */
  readonly held: RuleVersion | undefined;
  /** Rules that report the submission, and the decision that names them; see `recordOutcome`. */
  readonly reports: readonly ActiveRule[];
  readonly decisionId: number;
}

const NO_VERDICT: Verdict = { held: undefined, reports: [], decisionId: 0 };

/**
 * Checks a submission against the wordlists and the rules of the game. A resource calls it after its permission checks,
 * in the transaction of the submission, and calls `recordOutcome` once it knows the id of the new content.
 */
export async function checkRules(app: App, transaction: Transaction, caller: Caller, gameId: number): Promise<Verdict> {
  if (caller.kind !== 'user' || !caller.submission) return NO_VERDICT;
  const { submission } = caller;
  const [, rules, { facts, digest, level }] = await answersTo([
    requireCleanTexts(transaction, gameId, submission.fields),
    rulesFor(app, transaction, gameId),
    factsOf(app, transaction, caller, gameId, submission),
  ]);
  const evaluation = rules.evaluate(facts, matchesFor(submission, rules));
  const { decided, reports, webhooks } = evaluation;
  const decision: store.NewDecision = {
    game_id: gameId,
    user_id: caller.userId,
    operation: submission.operation,
    verdict: verdictOf(evaluation),
    rule_id: decided?.rule_id ?? 0,
    rule_version: decided?.version ?? 0,
    reports: versionsJson(reports),
    webhooks: versionsJson(webhooks),
    awaits_studio: Number(webhooks.length > 0),
    facts: JSON.stringify(facts),
    digest,
    date_added: app.clock.now(),
  };
  if (decided?.verdict === 'deny') {
    // This transaction is rolled back, so the decision is stored afterwards in its own.
    submission.refusal = () => app.db.write(async (own) => void (await storeDecision(app, own, decision)));
    throw new ApiError('RULES_BASED_MODERATION_FAILURE', decided.message === '' ? {} : { text: decided.message });
  }
  const decisionId = await storeDecision(app, transaction, decision);
  // Submissions of the game's own moderators need no review.
  return { held: decided?.verdict === 'hold' && level < MODERATOR ? decided : undefined, reports, decisionId };
}

const versionsJson = (rules: readonly RuleVersion[]): string =>
  JSON.stringify(rules.map(({ rule_id, version }) => ({ rule_id, version })));

export const REPORT_TO_STUDIO_JOB = 'rules.tell-studio';

async function storeDecision(app: App, transaction: Transaction, decision: store.NewDecision): Promise<number> {
  const id = await store.addDecision(transaction, decision);
  const { game_id: gameId, awaits_studio } = decision;
  if (awaits_studio === 1)
    await app.jobs.enqueue(transaction, REPORT_TO_STUDIO_JOB, { gameId }, { key: `game/${gameId}` });
  return id;
}

/** Links the decision to the submitted content, and opens the reports that rules ask for. */
export async function recordOutcome(
  app: App,
  transaction: Transaction,
  { reports, decisionId }: Verdict,
  submitted: Submitted,
): Promise<void> {
  if (decisionId === 0) return;
  await store.setSubject(transaction, decisionId, submitted.resource, submitted.id);
  for (const rule of reports)
    for (const { onReport } of app.extensions.of(ruleExtensions)) await onReport(app, transaction, submitted, rule);
}

/** Whether a rule holds the content for the game's team. */
export const isHeld = async (reader: Pick<Database, 'first'>, resource: string, id: number): Promise<boolean> =>
  (await store.holdOf(reader, resource, id)) !== undefined;

export const putOnHold = (
  app: App,
  { query }: Transaction,
  resource: string,
  { id, game_id }: { readonly id: number; readonly game_id: number },
  { rule_id, version }: RuleVersion,
) =>
  store.putHold(query, {
    resource,
    resource_id: id,
    game_id,
    rule_id,
    rule_version: version,
    date_added: app.clock.now(),
  });

/** Ends a hold after the game's team has decided, or the resource was removed. */
export const releaseHold = ({ query }: Transaction, resource: string, id: number) =>
  store.removeHold(query, resource, id);
