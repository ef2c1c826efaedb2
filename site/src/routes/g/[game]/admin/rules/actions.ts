import type { Operation } from '@modstead/client';
import { type ActionFailure, fail, isActionFailure, type RequestEvent } from '@sveltejs/kit';
import { calling } from '#components/dashboard/actions.ts';
import { type Field, idOf, type Result, readFields } from '#components/dashboard/fields.ts';
import { conditionIn, RULE, sentCondition } from './conditions.ts';

type Action = (event: RequestEvent) => Promise<Result | ActionFailure<Result>>;

const withCondition = (operation: Operation, more: readonly Field[] = []): Action =>
  calling(operation, [...more, ...RULE], (input, form) => ({ ...input, when: conditionIn(form) }));

/** Shows the form again as it was sent: conditions are no fields of their own. */
const shownAgain =
  (action: Action, { whenDone }: { readonly whenDone: boolean }): Action =>
  async (event) => {
    const form = await event.request.clone().formData();
    const answer = await action(event);
    const sent = { ...readFields(form, RULE), ...sentCondition(form) };
    if (!isActionFailure(answer)) return whenDone ? { ...(answer as Result), sent } : answer;
    const { status, data } = answer as unknown as ActionFailure<Result>;
    return fail(status, { ...data, sent });
  };

const adding = withCondition('POST /games/{game_id}/rules');
const changing = withCondition('PUT /games/{game_id}/rules/{rule_id}', [idOf('rule_id')]);
const trying = withCondition('POST /games/{game_id}/rules/dry-run');

export const ruleActions = {
  add: shownAgain(adding, { whenDone: false }),
  change: shownAgain(changing, { whenDone: false }),
  dryRun: shownAgain(trying, { whenDone: true }),
};
