-- +goose Up

-- vector is what the passage means: one signed byte for each number, NULL when unknown (documents of schema 1).
ALTER TABLE doc ADD COLUMN vector BLOB;

PRAGMA user_version = 2;
