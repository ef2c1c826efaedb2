import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import {
  GamePath,
  Id,
  Integer,
  PathId,
  page,
  pageOf,
  pageOfAll,
  pagesOnly,
  Timestamp,
} from '../../platform/http/objects.ts';
import { Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import {
  addRule,
  type DecisionRow,
  decisionListing,
  deleteRule,
  editRule,
  listDecisions,
  listRules,
  listVersions,
  payloadIn,
  type RuleRow,
  reorderRules,
  replayDecision,
  showRule,
  tryRule,
  VERDICTS,
  type VersionRow,
} from './rules.ts';

const REFUSALS = ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NO_MODERATE_PERMISSION'] as const;
const OF_RULE = [...REFUSALS, 'RESOURCE_NOT_FOUND'] as const;
const RulePath = GamePath.extend({ rule_id: PathId });
const DecisionPath = GamePath.extend({ decision_id: PathId });

const ConditionObject = z.record(z.string(), z.unknown()).meta({
  description:
    '`{"all": […]}`, `{"any": […]}`, `{"not": …}` or `{"field": "payload.name", "is": "contains", "value": "…"}`',
});
const said = {
  name: z.string(),
  operations: z.array(z.string()),
  when: ConditionObject,
  verdict: z.enum(VERDICTS),
  message: z.string(),
};

const RuleObject = z
  .object({
    id: Id,
    game_id: Id,
    position: Integer,
    enabled: z.boolean(),
    version: Integer,
    ...said,
    edited_by: Id,
    date_added: Timestamp,
    date_updated: Timestamp,
  })
  .meta({ id: 'Rule' });

const RuleVersionObject = z
  .object({ rule_id: Id, version: Integer, ...said, edited_by: Id, date_added: Timestamp })
  .meta({ id: 'RuleVersion' });

const RuleSaidObject = z.object({ rule_id: Id, version: Integer });

const RuleDecisionObject = z
  .object({
    id: Id,
    game_id: Id,
    user_id: Id,
    operation: z.string(),
    verdict: z.enum(['none', ...VERDICTS]),
    rule_id: Integer.meta({ description: '0 where no rule decided' }),
    rule_version: Integer,
    reports: z.array(RuleSaidObject),
    webhooks: z.array(RuleSaidObject),
    resource: z.string().meta({ description: 'The submitted resource; empty if the submission was denied' }),
    resource_id: Integer,
    payload: z.record(z.string(), z.unknown()),
    date_added: Timestamp,
  })
  .meta({ id: 'RuleDecision' });

const saidBy = ({
  name,
  operations,
  condition,
  verdict,
  message,
}: Omit<VersionRow, 'id' | 'rule_id' | 'game_id' | 'version' | 'edited_by' | 'date_added'>) => ({
  name,
  operations: JSON.parse(operations) as string[],
  when: JSON.parse(condition) as Record<string, unknown>,
  verdict: verdict as (typeof VERDICTS)[number],
  message,
});

const toRule = (row: RuleRow): z.input<typeof RuleObject> => ({
  id: row.id,
  game_id: row.game_id,
  position: row.position,
  enabled: row.enabled === 1,
  version: row.version,
  ...saidBy(row),
  edited_by: row.edited_by,
  date_added: row.date_added,
  date_updated: row.date_updated,
});

const toVersion = (row: VersionRow): z.input<typeof RuleVersionObject> => ({
  rule_id: row.rule_id,
  version: row.version,
  ...saidBy(row),
  edited_by: row.edited_by,
  date_added: row.date_added,
});

const toDecision = (row: DecisionRow): z.input<typeof RuleDecisionObject> => ({
  id: row.id,
  game_id: row.game_id,
  user_id: row.user_id,
  operation: row.operation,
  verdict: row.verdict as z.input<typeof RuleDecisionObject>['verdict'],
  rule_id: row.rule_id,
  rule_version: row.rule_version,
  reports: JSON.parse(row.reports),
  webhooks: JSON.parse(row.webhooks),
  resource: row.resource,
  resource_id: row.resource_id,
  payload: payloadIn(row.facts),
  date_added: row.date_added,
});

const Name = z.string().trim().min(1).max(100);
const Operations = z.array(z.string()).max(50).meta({ description: 'Ids of operations; all by default' });
const When = z.string().max(50_000).meta({ description: 'The condition as JSON' });
const Message = z
  .string()
  .trim()
  .max(500)
  .meta({ description: 'The error message for a denied submission; empty for the general message' });
const NewRule = z.object({
  name: Name,
  operations: Operations.default([]),
  when: When,
  verdict: z.enum(VERDICTS),
  message: Message.default(''),
  enabled: z.boolean().default(false),
});

export const getGameRules = operation({
  id: 'get-game-rules',
  tag: 'Rules',
  method: 'GET',
  path: '/games/{game_id}/rules',
  says: 'Lists the moderation rules of a game in the order of their evaluation. For its team.',
  access: user('read', 'team'),
  params: GamePath,
  list: pagesOnly,
  returns: ok(pageOf(RuleObject)),
  errors: REFUSALS,
  handle: async (app, { caller, params, list }) =>
    pageOfAll((await listRules(app, caller, params.game_id)).map(toRule), list),
});

export const getGameRule = operation({
  id: 'get-game-rule',
  tag: 'Rules',
  method: 'GET',
  path: '/games/{game_id}/rules/{rule_id}',
  says: 'Shows one moderation rule of a game. For its team.',
  access: user('read', 'team'),
  params: RulePath,
  returns: ok(RuleObject),
  errors: OF_RULE,
  handle: async (app, { caller, params }) => toRule(await showRule(app, caller, params.game_id, params.rule_id)),
});

export const addGameRule = operation({
  id: 'add-game-rule',
  tag: 'Rules',
  method: 'POST',
  path: '/games/{game_id}/rules',
  says: 'Adds a moderation rule to a game, after its others and disabled by default. For managers of the game.',
  access: user('write', 'team'),
  params: GamePath,
  body: NewRule,
  once: true,
  returns: created(RuleObject),
  errors: REFUSALS,
  handle: async (app, { caller, params, body }) => {
    const rule = await addRule(app, caller, params.game_id, body);
    const address = `${app.addresses.gameApi(rule.game_id)}/games/${rule.game_id}/rules/${rule.id}`;
    return new Created(toRule(rule), address);
  },
});

export const editGameRule = operation({
  id: 'edit-game-rule',
  tag: 'Rules',
  method: 'PUT',
  path: '/games/{game_id}/rules/{rule_id}',
  says: 'Changes a moderation rule, which creates a new version of it, or enables or disables it. For managers of the game.',
  access: user('write', 'team'),
  params: RulePath,
  body: z.object({
    name: Name.optional(),
    operations: Operations.optional(),
    when: When.optional(),
    verdict: z.enum(VERDICTS).optional(),
    message: Message.optional(),
    enabled: z.boolean().optional(),
  }),
  returns: ok(RuleObject),
  errors: OF_RULE,
  handle: async (app, { caller, params, body }) =>
    toRule(await editRule(app, caller, params.game_id, params.rule_id, body)),
});

export const deleteGameRule = operation({
  id: 'delete-game-rule',
  tag: 'Rules',
  method: 'DELETE',
  path: '/games/{game_id}/rules/{rule_id}',
  says: 'Deletes a moderation rule. Its versions stay for the decisions that refer to them. For managers of the game.',
  access: user('write', 'team'),
  params: RulePath,
  returns: noContent,
  errors: OF_RULE,
  handle: (app, { caller, params }) => deleteRule(app, caller, params.game_id, params.rule_id),
});

export const reorderGameRules = operation({
  id: 'reorder-game-rules',
  tag: 'Rules',
  method: 'POST',
  path: '/games/{game_id}/rules/reorder',
  says: 'Sets the order in which the moderation rules of a game are evaluated. For managers of the game.',
  access: user('write', 'team'),
  params: GamePath,
  body: z.object({ rule_ids: z.array(Id).max(500) }),
  returns: ok(pageOf(RuleObject)),
  errors: REFUSALS,
  handle: async (app, { caller, params, body }) => {
    const rules = await reorderRules(app, caller, params.game_id, body.rule_ids);
    return page(rules.map(toRule), rules.length, { limit: 500, offset: 0 });
  },
});

export const getGameRuleVersions = operation({
  id: 'get-game-rule-versions',
  tag: 'Rules',
  method: 'GET',
  path: '/games/{game_id}/rules/{rule_id}/versions',
  says: 'Lists all versions of a moderation rule, the newest first, including those of a deleted rule. For the game’s team.',
  access: user('read', 'team'),
  params: RulePath,
  list: pagesOnly,
  returns: ok(pageOf(RuleVersionObject)),
  errors: OF_RULE,
  handle: async (app, { caller, params, list }) =>
    pageOfAll((await listVersions(app, caller, params.game_id, params.rule_id)).map(toVersion), list),
});

export const tryGameRule = operation({
  id: 'try-game-rule',
  tag: 'Rules',
  method: 'POST',
  path: '/games/{game_id}/rules/dry-run',
  says: 'Lists which of the newest submissions, at most 1000, a moderation rule would have matched; an expensive rule is tried on fewer. Nothing is changed. For managers of the game.',
  access: user('write', 'team'),
  unlocked: 'nothing is written',
  params: GamePath,
  body: NewRule.omit({ enabled: true }),
  returns: ok(z.object({ tried: Integer, met: Integer, data: z.array(RuleDecisionObject) }).meta({ id: 'RuleTrial' })),
  errors: REFUSALS,
  handle: async (app, { caller, params, body }) => {
    const { tried, met } = await tryRule(app, caller, params.game_id, { ...body, enabled: true });
    return { tried, met: met.length, data: met.slice(0, TOLD_MAX).map(toDecision) };
  },
});

const TOLD_MAX = 100;

export const getGameRuleDecisions = operation({
  id: 'get-game-rule-decisions',
  tag: 'Rules',
  method: 'GET',
  path: '/games/{game_id}/rules/decisions',
  says: 'Lists the submissions to a game in the last 30 days, with the rules and versions that matched and their verdicts. For its team.',
  access: user('read', 'team'),
  params: GamePath,
  list: decisionListing,
  returns: ok(pageOf(RuleDecisionObject)),
  errors: REFUSALS,
  handle: async (app, { caller, params, list }) => {
    const { rows, total } = await listDecisions(app, caller, params.game_id, list);
    return page(rows.map(toDecision), total, list);
  },
});

export const replayGameRuleDecision = operation({
  id: 'replay-game-rule-decision',
  tag: 'Rules',
  method: 'GET',
  path: '/games/{game_id}/rules/decisions/{decision_id}/replay',
  says: 'Evaluates the rule versions that decided about a submission again. For the game’s team.',
  access: user('read', 'team'),
  params: DecisionPath,
  returns: ok(
    z.object({ decision: RuleDecisionObject, verdict: z.string(), same: z.boolean() }).meta({ id: 'RuleReplay' }),
  ),
  errors: OF_RULE,
  handle: async (app, { caller, params }) => {
    const { decision, verdict } = await replayDecision(app, caller, params.game_id, params.decision_id);
    return { decision: toDecision(decision), verdict, same: verdict === decision.verdict };
  },
});

export const ruleOperations = [
  getGameRules,
  addGameRule,
  reorderGameRules,
  tryGameRule,
  getGameRuleDecisions,
  replayGameRuleDecision,
  getGameRule,
  editGameRule,
  deleteGameRule,
  getGameRuleVersions,
];
