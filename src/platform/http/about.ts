/** Rules shared by all operations. They open the OpenAPI document and the page at /v1/docs. */
export const ABOUT: readonly { readonly title: string; readonly text: string }[] = [
  {
    title: 'Credentials',
    text: 'Reading takes an API key as `api_key` in the query, or a person’s access token as `Authorization: Bearer …`. Writing takes a token with the scope `write`. Everything goes over HTTPS; the sandbox, under `test.`, has keys, people and content of its own.',
  },
  {
    title: 'Requests',
    text: 'Bodies are forms, `application/x-www-form-urlencoded` or `multipart/form-data`; files need the latter. A list is sent as `name[]=a&name[]=b`, a nested value as `name[key]=a`. All fields may instead stand in one field `input_json`, as a JSON object, which wins over fields of the same name.',
  },
  {
    title: 'Lists',
    text: 'A list is filtered by its columns: `status=1` for equal values, and with a suffix `-not`, `-lk` and `-not-lk` (like, with `*` for any text), `-in` and `-not-in` (values separated by commas), `-min`, `-max`, `-st` and `-gt` (at least, at most, smaller, greater), `-bitwise-and` (any of these bits). All filters hold, except that one of those that `or_fields[]` names together is enough. `_q` searches, `_sort` orders, `_limit` and `_offset` page. A page tells `result_count`, `result_offset`, `result_limit` and `result_total` beside its `data`.',
  },
  {
    title: 'Errors',
    text: 'Every error has the same shape, and an `error_ref` that tells it apart. The status 422 names in `errors` each field that does not fit. After 429, wait as many seconds as `Retry-After` says.',
  },
  {
    title: 'Languages',
    text: '`Accept-Language` chooses the language of messages and localised fields. With `Content-Language`, localisable fields are stored as a translation.',
  },
];
