// Checks the OpenAPI document on standard input, for tests/integration/openapi_cases.py: prints its
// version, or what is wrong, and then ends with 1.
import fs from 'node:fs';
import {Validator} from '@seriousme/openapi-schema-validator';

const validator = new Validator();
const result = await validator.validate(JSON.parse(fs.readFileSync(0, 'utf8')));
if (!result.valid) {
  console.error(JSON.stringify(result.errors, null, 1).slice(0, 3000));
  process.exit(1);
}
validator.resolveRefs();   // Throws for a $ref that leads nowhere.
console.log(validator.version);
