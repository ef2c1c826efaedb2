import { composeService, outsideOf } from '../../src/compose.ts';
import { readSettings } from '../../src/config/settings.ts';

/** The service in a process of its own, to be killed. */
const settings = readSettings(process.env);
const service = await composeService(settings, outsideOf(settings));
process.send!({ port: service.port });
