import { composeService, outsideOf } from '../../src/composition/compose.ts';
import { readSettings } from '../../src/platform/config/settings.ts';
import { systemClock } from '../../src/platform/runtime/clock.ts';

/** The service in its own process, to be killed. The argument sets its clock ahead by that many seconds. */
const settings = readSettings(process.env);
const aheadSeconds = Number(process.argv[2] ?? 0);
const clock = {
  ...systemClock,
  now: () => systemClock.now() + aheadSeconds,
  millis: () => systemClock.millis() + aheadSeconds * 1000,
};
const service = await composeService(settings, { ...outsideOf(settings), clock });
process.send!({ port: service.port });
