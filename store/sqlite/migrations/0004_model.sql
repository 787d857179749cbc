-- +goose Up

-- model is a number that stands for the name of the model that vector is of (near.go), NULL when none was asked. It is set, with no vector,
-- where a model found no meaning. Vectors of older schemas are of no known model: they are made anew in the background.
ALTER TABLE doc ADD COLUMN model INTEGER;
CREATE INDEX doc_model ON doc (model);

PRAGMA user_version = 4;
