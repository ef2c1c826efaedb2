import { command, Refusal } from './invocation/command.ts';
import { withApp } from './operator.ts';

export default command({
  name: 'audit verify',
  usage: '',
  says: 'Verifies the hash chain of the audit log, and fails at the first row that was changed, added or removed.',
  json: true,
  options: {},
  run: async ({ settings, environment }) =>
    withApp(settings(), environment, async (app) => {
      const { verifyAudit } = await import('../records/audit/audit.ts');
      const { rows, broken } = await verifyAudit(app);
      if (broken)
        throw new Refusal(
          `The audit log is broken: row ${broken.id} was ${SAYS[broken.problem]}, after ${rows} valid rows.`,
        );
      return { object: { rows }, text: `The audit log is intact: ${rows} rows.` };
    }),
});

const SAYS = { missing: 'removed', changed: 'changed', added: 'added by someone else' } as const;
