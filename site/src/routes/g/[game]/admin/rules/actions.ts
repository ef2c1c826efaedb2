import type { Operation } from '@modstead/client';
import type { RequestEvent } from '@sveltejs/kit';
import { calling } from '#components/dashboard/actions.ts';
import { type Field, idOf } from '#components/dashboard/fields.ts';
import { conditionIn, RULE } from './conditions.ts';

const withCondition = (operation: Operation, more: readonly Field[] = []) =>
  calling(operation, [...more, ...RULE], (input, form) => ({ ...input, when: conditionIn(form) }));

const adding = withCondition('POST /games/{game_id}/rules');
const changing = withCondition('PUT /games/{game_id}/rules/{rule_id}', [idOf('rule_id')]);
const trying = withCondition('POST /games/{game_id}/rules/dry-run');

export const ruleActions = {
  add: (event: RequestEvent) => adding(event),
  change: (event: RequestEvent) => changing(event),
  dryRun: (event: RequestEvent) => trying(event),
};
