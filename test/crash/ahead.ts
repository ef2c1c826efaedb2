import { composeService, outsideOf, type Service } from '../../src/composition/compose.ts';
import { readSettings } from '../../src/platform/config/settings.ts';
import { systemClock } from '../../src/platform/runtime/clock.ts';

/** The service in this process, with its clock this many seconds ahead, so that leases of a killed one have expired. */
export function startAhead(env: NodeJS.ProcessEnv, seconds: number | (() => number) = 0): Promise<Service> {
  const settings = readSettings(env);
  const ahead = typeof seconds === 'number' ? () => seconds : seconds;
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + ahead(),
    millis: () => systemClock.millis() + ahead() * 1000,
  };
  return composeService(settings, { ...outsideOf(settings), clock });
}
