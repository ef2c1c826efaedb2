import { anyone } from '../../platform/access/caller.ts';
import { WebMessageObject } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';

export const ping = operation({
  id: 'ping',
  tag: 'General',
  method: 'GET',
  path: '/ping',
  says: 'Answers that the service is running.',
  access: anyone(),
  returns: ok(WebMessageObject),
  errors: [],
  handle: (_app, { language, cache }) => {
    cache('service');
    return { code: 200, success: true, message: localise('pong', language) };
  },
});

export const serviceOperations = [ping];
