import type { Finding } from './checks/check.ts';
import { columns, command } from './invocation/command.ts';

export default command({
  name: 'doctor',
  usage: '',
  says: `Checks the configuration and every external service, and says how to fix what is wrong.

It checks production and sandbox (with --sandbox the sandbox alone) and changes nothing, except that it
creates a missing local certificate. The exit code is 1 if something is wrong.`,
  json: true,
  options: {},
  run: async (invocation) => {
    const { examine } = await import('./checks/examine.ts');
    const checks = await examine(invocation);
    const ok = checks.every((check) => check.ok);
    return { object: { ok, checks }, text: toText(checks, ok), exitCode: ok ? 0 : 1 };
  },
});

function toText(checks: readonly Finding[], ok: boolean): string {
  const lines = checks.flatMap(({ name, ok, says, todo }) => [
    [`${ok ? '✓' : '✗'} ${name}`, says] as const,
    ...(todo ? [['', `→ ${todo}`] as const] : []),
  ]);
  const wrong = checks.filter((check) => !check.ok).length;
  return `${columns(lines)}\n\n${ok ? 'All is well.' : `${wrong} of ${checks.length} checks failed.`}`;
}
