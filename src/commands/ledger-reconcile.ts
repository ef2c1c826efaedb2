import { readFile } from 'node:fs/promises';
import { columns, command, misuse } from './invocation/command.ts';
import { filterOf } from './ledger-period.ts';
import { withApp } from './operator.ts';

const SHOWN_MAX = 50;
const MONTH_SECONDS = 30 * 86_400;

export default command({
  name: 'ledger reconcile',
  usage: '--provider NAME [--file CSV [--columns NAMES]] [--game GAME_ID] [--from UNIX] [--until UNIX]',
  says: `Compares the books with a provider's own records, and exits with 1 if they differ.

Stripe and the simulated provider are asked. For a store or a bank, name its settlement file: CSV with a head and the
columns reference, type, amount, currency and date, of which only the reference is needed.`,
  json: true,
  options: {
    provider: {
      type: 'string',
      value: 'NAME',
      required: true,
      says: 'stripe, simulated, manual, or the portal of a store',
    },
    file: { type: 'string', value: 'CSV', says: 'the settlement file; needed unless the provider can be asked' },
    columns: {
      type: 'string',
      value: 'NAMES',
      says: 'names of its columns, such as "reference=Order Number,date=Day"',
    },
    game: { type: 'string', value: 'GAME_ID', says: 'the books of one game' },
    from: { type: 'string', value: 'UNIX', says: 'from this second on; by default 30 days before the end' },
    until: { type: 'string', value: 'UNIX', says: 'before this second; by default now' },
  },
  run: async ({ values, settings, environment }) => {
    const { provider, file } = values;
    const { gameId, from, until } = filterOf({ ...values, user: undefined });
    const { ASKED_PROVIDERS, FILE_PROVIDERS, reconcile } = await import('../money/reconciliation/reconciliation.ts');
    const providers: readonly string[] = file === undefined ? ASKED_PROVIDERS : FILE_PROVIDERS;
    if (!providers.includes(provider))
      throw misuse(`--provider must be one of ${providers.join(', ')}${file ? '' : ' unless --file is given'}.`);
    const text = file === undefined ? undefined : await readFile(file, 'utf8');
    const read = text === undefined ? undefined : { text, columns: values.columns ?? '' };
    return withApp(settings(), environment, async (app) => {
      const end = until ?? app.clock.now() + 1;
      const period = { from: from ?? end - MONTH_SECONDS, until: end };
      const found = await reconcile(app, provider, gameId, period, read);
      const { toReconciliation } = await import('../money/reconciliation/object.ts');
      return {
        object: toReconciliation(found),
        text: textOf(found),
        exitCode: found.differences.length === 0 ? 0 : 1,
      };
    });
  },
});

type Found = Awaited<ReturnType<typeof import('../money/reconciliation/reconciliation.ts')['reconcile']>>;

function textOf({ matched, differences, totals, others }: Found): string {
  const lines = [
    ...totals.map(
      ({ kind, currency, ledger, provider, count }) =>
        [`${count} ${kind} ${currency}`, `books ${ledger}, provider ${provider}`] as const,
    ),
    ...others.map(
      ({ type, currency, amount, count }) => [`${count} ${type} ${currency}`, `provider ${amount}`] as const,
    ),
    ...differences
      .slice(0, SHOWN_MAX)
      .map(
        ({ difference, kind, reference, currency, ledgerAmount, providerAmount }) =>
          [
            difference.replaceAll('_', ' '),
            `${kind} ${reference} ${currency}: books ${ledgerAmount}, provider ${providerAmount}`,
          ] as const,
      ),
  ];
  const verdict =
    differences.length === 0
      ? `The books and the provider agree: ${matched} matched.`
      : `The books and the provider differ: ${matched} matched, ${differences.length} did not.`;
  return lines.length === 0 ? verdict : `${columns(lines)}\n\n${verdict}`;
}
