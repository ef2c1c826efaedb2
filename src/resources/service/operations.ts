import { anyone } from '../../access/caller.ts';
import { WebMessageObject } from '../../http/objects.ts';
import { ok, operation } from '../../http/operation.ts';
import { say } from '../../localisation/texts.ts';

export const ping = operation({
  id: 'ping',
  tag: 'General',
  method: 'GET',
  path: '/ping',
  says: 'Tells that the service answers.',
  access: anyone(),
  returns: ok(WebMessageObject),
  errors: [],
  handle: (_app, { language, keep }) => {
    keep('service');
    return { code: 200, success: true, message: say('pong', language) };
  },
});

export const serviceOperations = [ping];
