import type { Finding } from './checks/check.ts';
import type { Examined } from './checks/examine.ts';
import { columns, command, misuse } from './invocation/command.ts';

export default command({
  name: 'doctor',
  usage: '[--fleet ADDRESS,…]',
  says: `Checks the configuration and every external service, and says how to fix what is wrong.

It checks production and sandbox (with --sandbox the sandbox alone) and changes nothing, except that it
creates a missing local certificate. The exit code is 1 if something is wrong.

With --fleet it asks the services at these addresses instead, and compares their versions, schemas and clocks, and
whether they reach their databases and storage.`,
  json: true,
  options: {
    fleet: { type: 'string', says: 'addresses of services, such as https://10.0.0.11:8443, comma-separated' },
  },
  run: async (invocation) => {
    const checks = await checksOf(invocation);
    const ok = checks.every((check) => check.ok);
    return { object: { ok, checks }, text: toText(checks, ok), exitCode: ok ? 0 : 1 };
  },
});

async function checksOf(invocation: Examined & { readonly values: { readonly fleet?: string | undefined } }) {
  const { fleet } = invocation.values;
  if (fleet === undefined) return (await import('./checks/examine.ts')).examine(invocation);
  const addresses = fleet.split(',').map((address) => address.trim());
  const wrong = addresses.find((address) => !URL.canParse(address) || !address.startsWith('https://'));
  if (wrong !== undefined) throw misuse(`"${wrong}" is no address such as https://10.0.0.11:8443.`);
  return (await import('./checks/fleet.ts')).examineFleet(invocation.settings(), addresses);
}

function toText(checks: readonly Finding[], ok: boolean): string {
  const lines = checks.flatMap(({ name, ok, says, todo }) => [
    [`${ok ? '✓' : '✗'} ${name}`, says] as const,
    ...(todo ? [['', `→ ${todo}`] as const] : []),
  ]);
  const wrong = checks.filter((check) => !check.ok).length;
  return `${columns(lines)}\n\n${ok ? 'All is well.' : `${wrong} of ${checks.length} checks failed.`}`;
}
