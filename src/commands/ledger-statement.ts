import { columns, command } from './invocation/command.ts';
import { filterOf, PERIOD } from './ledger-period.ts';
import { withApp } from './operator.ts';

export default command({
  name: 'ledger statement',
  usage: '[--game GAME_ID] [--user USER_ID] [--from UNIX] [--until UNIX]',
  says: `Prints opening balance, credits, debits and closing balance of every account that moved.

Amounts are in the smallest unit. A credit is what the owner of the account is owed more.`,
  json: true,
  options: PERIOD,
  run: async ({ values, settings, environment }) => {
    const filter = filterOf(values);
    return withApp(settings(), environment, async (app) => {
      const { statementOf } = await import('../money/ledger/statements.ts');
      const accounts = await statementOf(app, filter);
      const lines = accounts.map(
        ({ kind, currency, opening, credits, debits, closing }) =>
          [`${kind} ${currency}`, `${opening} + ${credits} − ${debits} = ${closing}`] as const,
      );
      return { object: { accounts }, text: lines.length === 0 ? 'Nothing was posted.' : columns(lines) };
    });
  },
});
