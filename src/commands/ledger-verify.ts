import { command, Refusal } from './invocation/command.ts';
import { withApp } from './operator.ts';

export default command({
  name: 'ledger verify',
  usage: '',
  says: `Recomputes the books and fails if anything does not add up.

It checks the hash chain of each game, that every transaction sums to zero, that every balance is the sum of its
entries, that no account breaks its rule, and that payments and purchases agree with the books.`,
  json: true,
  options: {},
  run: async ({ settings, environment }) =>
    withApp(settings(), environment, async (app) => {
      const { verifyLedger } = await import('../money/ledger/verification.ts');
      const { localiseLater } = await import('../platform/localisation/texts.ts');
      const { problems, ...counted } = await verifyLedger(app);
      if (problems.length > 0) {
        const first = problems.slice(0, 10).map((problem) => localiseLater(problem, 'en'));
        throw new Refusal(`The books have ${problems.length} problem(s): ${first.join(' ')}`);
      }
      const { transactions, entries, accounts } = counted;
      return {
        object: counted,
        text: `The books are right: ${transactions} transactions, ${entries} entries, ${accounts} accounts.`,
      };
    }),
});
