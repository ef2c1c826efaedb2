import { command, idOf, Refusal } from './invocation/command.ts';
import { auditCommand, requireKnownUser, withApp } from './operator.ts';

export default command({
  name: 'user unguard',
  usage: '--user USER_ID',
  says: 'Turns off the confirmation of releases by mail for a user who has lost their mailbox. Verify their identity first.',
  json: true,
  options: { user: { type: 'string', value: 'USER_ID', required: true, says: 'who it is' } },
  run: async ({ values, settings, environment }) => {
    const userId = idOf(values.user, '--user');
    return withApp(settings(), environment, async (app) => {
      const { username } = await requireKnownUser(app, userId);
      const { endGuard } = await import('../files/releases/guards.ts');
      const isEnded = await app.db.write(async (transaction) => {
        if (!(await endGuard(transaction, userId))) return false;
        await auditCommand(app, transaction, 'users.unguard', { resource: 'users', id: userId });
        return true;
      });
      if (!isEnded) throw new Refusal(`${username} does not confirm releases by mail.`);
      const text = `${username} (user ${userId}) no longer confirms releases by mail. Pending releases still wait for a confirmation.`;
      return { object: { id: userId, username }, text };
    });
  },
});
