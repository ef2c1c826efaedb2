import { ApiError } from '../../../platform/errors/catalogue.ts';
import { addressOf, stringOf } from '../asking.ts';
import { type Asking, type Identity, listOf, textOf } from '../identity.ts';
import { verifyToken } from '../jwt.ts';
import { confirmedEmail, onceUntil } from './claims.ts';

/** Sign in with Apple: an identity token for one of the game's bundles. */
export async function verifyApple({ app, settings, credentials }: Asking): Promise<Identity> {
  const bundles = listOf(settings, 'bundle_ids');
  if (bundles.length === 0) throw new ApiError('APPLE_BUNDLE_ID_NOT_CONFIGURED');
  const { id_token: token = '' } = credentials;
  const claims = await verifyToken(app, token, {
    keysUrl: addressOf(app, 'apple', 'https://appleid.apple.com/auth/keys'),
    algorithms: ['RS256', 'ES256'],
    issuers: ['https://appleid.apple.com'],
    audiences: [...bundles, textOf(settings, 'services_id') ?? []].flat(),
    claimsRequired: ['sub'],
    refusals: {
      invalid: 'APPLE_INVALID_TOKEN',
      early: 'APPLE_INVALID_TOKEN',
      late: 'APPLE_INVALID_TOKEN_NOT_VALID_AFTER',
      audience: 'APPLE_BUNDLE_ID_NOT_VALID',
      keys: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
    },
  });
  const id = stringOf(claims.sub);
  if (!id) throw new ApiError('APPLE_INVALID_TOKEN');
  // Apple tells a person's name to the app alone, and only once.
  return {
    portal: 'apple',
    id,
    displayName: '',
    avatar: '',
    email: confirmedEmail(claims),
    ticket: onceUntil(token, claims),
  };
}
