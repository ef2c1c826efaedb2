import { OPERATOR } from '../platform/access/caller.ts';
import { ApiError } from '../platform/errors/catalogue.ts';
import { command, idOf, Refusal } from './invocation/command.ts';
import { requireKnownUser, withApp } from './operator.ts';

export default command({
  name: 'staff remove',
  usage: '--user USER_ID',
  says: 'Removes a user from the staff of the site. The last owner cannot be removed.',
  json: true,
  options: { user: { type: 'string', value: 'USER_ID', required: true, says: 'who it is' } },
  run: async ({ values, settings, environment }) => {
    const userId = idOf(values.user, '--user');
    return withApp(settings(), environment, async (app) => {
      const { username } = await requireKnownUser(app, userId);
      const { removeStaff } = await import('../people/staff/staff.ts');
      await removeStaff(app, OPERATOR, userId).catch((error) => {
        throw error instanceof ApiError ? new Refusal(sentenceOf(error, username)) : error;
      });
      return { object: { id: userId, username }, text: `${username} (user ${userId}) is no longer on the staff.` };
    });
  },
});

const sentenceOf = ({ error }: ApiError, username: string) =>
  error === 'USER_CANT_DELETE_SITE_STAFF'
    ? `${username} is the last owner; make someone else an owner first.`
    : `${username} is not on the staff.`;
