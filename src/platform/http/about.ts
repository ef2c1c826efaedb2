/** Rules shared by all operations. They open the OpenAPI document and the page at /v1/docs. */
export const ABOUT: readonly { readonly title: string; readonly text: string }[] = [
  {
    title: 'Credentials',
    text: 'Reading requires an API key, sent as `api_key` in the query, or a user’s access token, sent as `Authorization: Bearer …`. Writing requires an access token with the scope `write`. All requests use HTTPS. The sandbox, under `test.`, has its own keys, users and content.',
  },
  {
    title: 'Requests',
    text: 'Bodies are forms: `application/x-www-form-urlencoded`, or `multipart/form-data`, which files require. A list is sent as `name[]=a&name[]=b`, a nested value as `name[key]=a`. Alternatively, the field `input_json` contains the fields as one JSON object; it takes precedence over fields of the same name.',
  },
  {
    title: 'Lists',
    text: 'A list can be filtered by its columns. `status=1` matches equal values; a suffix selects another comparison: `-not`, `-lk` and `-not-lk` (patterns, with `*` for any text), `-in` and `-not-in` (values separated by commas), `-min`, `-max`, `-st` and `-gt` (at least, at most, smaller, greater), `-bitwise-and` (any of these bits). A result matches all filters; of the filters that one `or_fields[]` groups, it matches at least one. `_q` searches, `_sort` sorts, and `_limit` and `_offset` select the page. The answer contains `result_count`, `result_offset`, `result_limit` and `result_total` beside its `data`.',
  },
  {
    title: 'Errors',
    text: 'All errors have the same format, and `error_ref` identifies the error. With status 422, `errors` lists each invalid field. After 429, wait for the number of seconds in `Retry-After`.',
  },
  {
    title: 'Revalidation',
    text: 'Every JSON response to `GET` has an `ETag`. A client that sends it as `If-None-Match` gets 304 without a body as long as the response would be the same. Links to files change every hour, and with them the responses that contain one.',
  },
  {
    title: 'Languages',
    text: '`Accept-Language` selects the language of messages and localised fields. With `Content-Language`, localisable fields are stored as a translation.',
  },
];
