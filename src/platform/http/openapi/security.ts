import { isForKeys } from '../../access/caller.ts';
import { HOLDERS } from '../../access/powers.ts';
import type { AnyOperation } from '../operation.ts';
import type { OperationObject } from './types.ts';

export const SECURITY_SCHEMES = {
  api_key: {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description: 'The key of a game or of a person: 32 letters and digits. It reads, and signs people in.',
  },
  oauth2: {
    type: 'http',
    scheme: 'bearer',
    description: 'A person’s access token. Its scopes are `read` and `write`.',
  },
  service: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The token of a game’s backend, from the grant `client_credentials`. Its scopes are `read`, `write`, `update` and `monetization`.',
  },
};

export function securityOf({ declaration: { access, method } }: AnyOperation): OperationObject['security'] {
  switch (access.kind) {
    case 'anyone':
      return [];
    case 'authentication':
      return [{ api_key: [] }];
    case 'reader':
      return [
        ...(isForKeys(access, method) ? [{ api_key: [] }] : []),
        { oauth2: ['read'] },
        ...(isForKeys(access, method) ? [{ service: [access.keyWrites ? 'write' : 'read'] }] : []),
        ...(access.link ? [{}] : []),
      ];
    case 'user':
      return [{ oauth2: [access.scope] }, ...(access.service ? [{ service: [access.service] }] : [])];
    case 'service':
      return [{ service: [access.scope, ...access.besides] }];
  }
}

/** Service tokens are described where they are sufficient, because they have no power of a user. */
export function powerOfOperation({ declaration: { access } }: AnyOperation) {
  if (access.kind !== 'user') return {};
  const holders = Object.entries(HOLDERS[access.power]).filter(([, says]) => says !== undefined);
  return { 'x-power': access.power, 'x-credentials': Object.fromEntries(holders) as Record<string, string> };
}
